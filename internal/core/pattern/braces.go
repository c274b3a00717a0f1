package pattern

import (
	"fmt"
	"path/filepath"
)

// maxPatterns is the largest number of alternatives in braces.
const maxPatterns = 10_000

// Braces returns the patterns without braces that a glob stands for, in which each {a,b,…} is replaced by one of its alternatives.
func Braces(glob string) ([]string, error) {
	open, closed, commas := outerBraces(glob)
	if open < 0 {
		return []string{glob}, nil
	}
	if closed < 0 {
		return nil, filepath.ErrBadPattern
	}
	var all []string
	from := open + 1
	for _, to := range append(commas, closed) {
		rest, err := Braces(glob[:open] + glob[from:to] + glob[closed+1:])
		if err != nil {
			return nil, err
		}
		if all = append(all, rest...); len(all) > maxPatterns {
			return nil, fmt.Errorf("%w: more than %d alternatives", filepath.ErrBadPattern, maxPatterns)
		}
		from = to + 1
	}
	return all, nil
}

// outerBraces returns the positions of the first '{' outside brackets, of its '}', and of the commas
// between its alternatives. What is missing is −1.
func outerBraces(p string) (open, closed int, commas []int) {
	open, closed = -1, -1
	depth, bracket := 0, false
	for i := 0; i < len(p); i++ {
		switch c := p[i]; {
		case c == '\\':
			i++
		case bracket:
			bracket = c != ']'
		case c == '[':
			bracket = true
		case c == '{':
			if depth++; depth == 1 {
				open = i
			}
		case c == '}' && depth > 0:
			if depth--; depth == 0 {
				return open, i, commas
			}
		case c == ',' && depth == 1:
			commas = append(commas, i)
		}
	}
	return open, closed, commas
}
