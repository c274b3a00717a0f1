package main

import (
	_ "embed" // the table of cases
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// casesText is the table of cases; its head describes the format.
//
//go:embed cases.txt
var casesText string

// testCase is one line of the table: commands that run one after another in their own folder.
type testCase struct {
	name     string // of the program under test, with a number if it has several cases
	program  string
	packages []string // of Debian, which contain the programs
	times    bool     // the output contains times: digits are not compared
	commands []command
}

// command is one program with its arguments.
type command struct {
	args     []string
	in, out  string // files of standard input and output; empty: none, captured
	anyError bool   // standard error is not compared
}

// parseCases parses the table and reports all errors together.
func parseCases(text string) ([]testCase, error) {
	var all []testCase
	var packages []string
	var wrong []error
	seen := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if line[0] == '[' && strings.HasSuffix(line, "]") {
			packages = strings.Fields(line[1 : len(line)-1])
			continue
		}
		c, err := parseCase(line)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("cases.txt:%d: %w", i+1, err))
			continue
		}
		c.packages = packages
		seen[c.program]++
		c.name = fmt.Sprintf("%s-%d", c.program, seen[c.program])
		all = append(all, c)
	}
	return all, errors.Join(wrong...)
}

func parseCase(line string) (c testCase, err error) {
	line, c.times = cutMark(line, "times: ")
	line, first := cutMark(line, "for ")
	ws, err := words(line)
	if err != nil {
		return c, err
	}
	if first && len(ws) > 0 { // "for velvetg: velveth … && velvetg …"
		c.program, ws = strings.TrimSuffix(ws[0], ":"), ws[1:]
	}
	for len(ws) > 0 {
		n := slices.Index(ws, "&&")
		if n < 0 {
			n = len(ws)
		}
		one, err := parseCommand(ws[:n])
		if err != nil {
			return c, err
		}
		c.commands = append(c.commands, one)
		ws = ws[min(n+1, len(ws)):]
	}
	if len(c.commands) == 0 {
		return c, errors.New("no command")
	}
	if c.program == "" {
		c.program = filepath.Base(c.commands[0].args[0])
	}
	return c, nil
}

func cutMark(line, mark string) (string, bool) { return strings.CutPrefix(line, mark) }

// parseCommand separates redirections from the words of a command.
func parseCommand(ws []string) (c command, err error) {
	for i := 0; i < len(ws); i++ {
		switch w := ws[i]; w {
		case "<", ">":
			if i++; i == len(ws) {
				return c, fmt.Errorf("no file after %q", w)
			}
			if w == "<" {
				c.in = ws[i]
			} else {
				c.out = ws[i]
			}
		case "2>any":
			c.anyError = true
		default:
			c.args = append(c.args, strings.TrimPrefix(w, quoted))
		}
	}
	if len(c.args) == 0 {
		return c, errors.New("empty command")
	}
	return c, nil
}

// quoted marks a word that was in quotes, so that a quoted "<" is not a redirection.
const quoted = "\x00"

// words splits a line at blanks. Single quotes protect blanks, also within a word.
func words(line string) (ws []string, err error) {
	var w strings.Builder
	within, any := false, false
	for _, r := range line + " " {
		switch {
		case r == '\'':
			if !any {
				w.WriteString(quoted)
			}
			within, any = !within, true
		case r == ' ' && !within:
			if any {
				ws = append(ws, w.String())
			}
			w.Reset()
			any = false
		default:
			w.WriteRune(r)
			any = true
		}
	}
	if within {
		return nil, errors.New("a quote does not end")
	}
	return ws, nil
}

// mentions reports whether the case names the file in any of its words.
func (c *testCase) mentions(file string) bool {
	return slices.ContainsFunc(c.commands, func(o command) bool {
		return o.in == file || slices.ContainsFunc(o.args, func(a string) bool { return strings.Contains(a, file) })
	})
}
