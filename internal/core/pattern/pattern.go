// Package pattern has alternatives in braces, and regular expressions that cost nothing until they are used. Compiled where they are declared, those of all
// packages would take half a megabyte in each process, and a command or worker uses few of them.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles the expression when it is called for the first time. It panics then if the expression is wrong.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
