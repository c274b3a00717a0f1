package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// maxRented is the largest number of machines of one type.
const maxRented = 10_000

// setMachines parses the machines to rent, as in "m1.m=30,c1.m:spot=4". A type without a number is one machine.
func setMachines(a *Ask, where, value string) error {
	rent := &a.request.Remote.Rent
	if !a.machinesSet { // the first --machines of a resume replaces the machines of the job
		a.machinesSet, rent.Machines = true, nil
	}
	for word := range strings.SplitSeq(value, ",") {
		name, number, counted := strings.Cut(strings.TrimSpace(word), "=")
		n, err := 1, error(nil)
		if counted {
			n, err = strconv.Atoi(number)
		}
		odd := strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f })
		if err != nil || n < 1 || n > maxRented || name == "" || odd {
			return job.ConfigError(where, fmt.Sprintf("%q is not a type with a number of machines", strings.TrimSpace(word)), "write types and numbers, as in m1.m=30,c1.m:spot=4")
		}
		if slices.ContainsFunc(rent.Machines, func(m job.Rented) bool { return m.Name == name }) {
			return job.ConfigError(where, fmt.Sprintf("type %s is named twice", name), "name it once, with the sum of both numbers")
		}
		rent.Machines = append(rent.Machines, job.Rented{Name: name, Count: n})
	}
	return nil
}

// setPassEnv parses names of environment variables.
func setPassEnv(a *Ask, where, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, "= \t\n") {
			return job.ConfigError(where, fmt.Sprintf("%q is not the name of a variable", name), "write names with commas between them, as in MODEL,OMP_NUM_THREADS")
		}
		a.request.Remote.PassEnv = append(a.request.Remote.PassEnv, name)
	}
	return nil
}
