package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/job"
)

// maxRented bounds how many machines of a type can be asked for.
const maxRented = 10_000

// setMachines takes machines to rent, "m1.m=30,c1.m:spot=4"; a type without a number is one machine.
func setMachines(a *Ask, where, value string) error {
	rent := &a.request.Remote.Rent
	if !a.machinesSet { // a job that is resumed has other machines then
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
			return job.ConfigError(where, fmt.Sprintf("%q is no type with a number of machines", strings.TrimSpace(word)), "write m1.m=30,c1.m:spot=4")
		}
		if slices.ContainsFunc(rent.Machines, func(m job.Rented) bool { return m.Name == name }) {
			return job.ConfigError(where, fmt.Sprintf("type %s is named twice", name), "name it once, with the number of both")
		}
		rent.Machines = append(rent.Machines, job.Rented{Name: name, Count: n})
	}
	return nil
}

// setPassEnv takes names of variables.
func setPassEnv(a *Ask, where, value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, "= \t\n") {
			return job.ConfigError(where, fmt.Sprintf("%q is no name of a variable", name), "write names with commas between them: MODEL,OMP_NUM_THREADS")
		}
		a.request.Remote.Rent.PassEnv = append(a.request.Remote.Rent.PassEnv, name)
	}
	return nil
}
