package cluster

import (
	"slices"
	"strings"
)

// constraint is the parser of sbatch --constraint for one node. Slurm 22.05 reads it from left to right without
// operator precedence: a|b&c is (a|b)&c; a comma is an and. This was found by experiment, because the manual does not
// define it.
type constraint struct {
	text string
	pos  int
	has  func(feature string) bool
}

// satisfies reports whether a node with these features meets a constraint. Counts and alternatives for all nodes
// together (a*4, [a|b]) concern the nodes of a job and not one node; understood is false for them.
func satisfies(text string, features []string) (yes, understood bool) {
	if text == "" {
		return true, true
	}
	c := constraint{text: text, has: func(f string) bool { return slices.Contains(features, f) }}
	yes, understood = c.expression()
	return yes, understood && c.pos == len(c.text)
}

func (c *constraint) expression() (yes, ok bool) {
	yes, ok = c.term()
	for ok && c.pos < len(c.text) {
		op := c.text[c.pos]
		if op != '&' && op != ',' && op != '|' {
			break
		}
		c.pos++
		var right bool
		right, ok = c.term()
		if op == '|' {
			yes = yes || right
		} else {
			yes = yes && right
		}
	}
	return yes, ok
}

func (c *constraint) term() (yes, ok bool) {
	if c.next('(') {
		yes, ok = c.expression()
		return yes, ok && c.next(')')
	}
	end := strings.IndexAny(c.text[c.pos:], "&,|()[]* ")
	if end < 0 {
		end = len(c.text) - c.pos
	}
	name := c.text[c.pos : c.pos+end]
	c.pos += end
	return c.has(name), name != ""
}

// next consumes a character if it is the next one.
func (c *constraint) next(char byte) bool {
	if c.pos >= len(c.text) || c.text[c.pos] != char {
		return false
	}
	c.pos++
	return true
}
