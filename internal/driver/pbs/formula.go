package pbs

import (
	"math"
	"strconv"
	"strings"
)

// formula is the parser of a job_sort_formula, an expression of numbers, names, + - * / and parentheses. PBS lets Python compute it, so it
// may have more than that; then ok is false.
type formula struct {
	text  string
	value func(name string) (float64, bool) // of a name
	ok    bool
}

// evaluate computes a formula for the job whose values value returns. ok is false for a formula that is not understood, or with names
// whose values are not known.
func evaluate(text string, value func(name string) (float64, bool)) (result float64, ok bool) {
	f := formula{text: strings.ReplaceAll(text, " ", ""), value: value, ok: len(text) < 4096}
	result = f.sum(0)
	return result, f.ok && f.text == "" && !math.IsNaN(result)
}

// next consumes one of the characters, and returns it; 0 if none of them is next.
func (f *formula) next(chars string) byte {
	if f.text == "" || !f.ok || strings.IndexByte(chars, f.text[0]) < 0 {
		return 0
	}
	c := f.text[0]
	f.text = f.text[1:]
	return c
}

func (f *formula) sum(depth int) float64 {
	v := f.product(depth)
	for {
		switch f.next("+-") {
		case '+':
			v += f.product(depth)
		case '-':
			v -= f.product(depth)
		default:
			return v
		}
	}
}

func (f *formula) product(depth int) float64 {
	v := f.term(depth)
	for {
		switch f.next("*/") {
		case '*':
			v *= f.term(depth)
		case '/':
			v /= f.term(depth)
		default:
			return v
		}
	}
}

// term reads a number, a name, a sign or an expression in parentheses.
func (f *formula) term(depth int) float64 {
	if depth > 50 {
		f.ok = false
		return 0
	}
	switch f.next("+-(") {
	case '-':
		return -f.term(depth + 1)
	case '+':
		return f.term(depth + 1)
	case '(':
		v := f.sum(depth + 1)
		f.ok = f.ok && f.next(")") != 0
		return v
	}
	end := strings.IndexAny(f.text+")", "+-*/()")
	word := f.text[:min(end, len(f.text))]
	f.text = f.text[len(word):]
	v, err := strconv.ParseFloat(word, 64)
	if err == nil {
		return v
	}
	known := false
	if word != "" {
		v, known = f.value(word)
	}
	f.ok = f.ok && known
	return v
}

// number reads a number; 0 if there is none.
func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
