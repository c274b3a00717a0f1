package parse

import (
	"fmt"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// maxRented is the largest number of machines of one type.
const maxRented = 10_000

// machines parses the machines to rent, as in "m1.m=30,c1.m:spot=4". A type without a number is one machine.
func machines(where, value string) (all []job.Rented, err error) {
	for word := range strings.SplitSeq(value, ",") {
		name, number, counted := strings.Cut(strings.TrimSpace(word), "=")
		if !counted {
			number = "1"
		}
		n, err := strconv.Atoi(number)
		odd := strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
		if err != nil || n < 1 || n > maxRented || name == "" || odd {
			return nil, job.ConfigError(where, fmt.Sprintf("%q is not a type with a number of machines", strings.TrimSpace(word)), "write types and numbers, as in m1.m=30,c1.m:spot=4")
		}
		all = append(all, job.Rented{Name: name, Count: n})
	}
	return all, nil
}

// names parses names of environment variables.
func names(where, value string) (all []string, err error) {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, "= \t\n") {
			return nil, job.ConfigError(where, fmt.Sprintf("%q is not the name of a variable", name), "write names with commas between them, as in MODEL,OMP_NUM_THREADS")
		}
		all = append(all, name)
	}
	return all, nil
}
