package parse

import (
	"fmt"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
)

// useName is what the names of things can be of which tasks use a limited amount.
var useName = pattern.Lazy(`^[A-Za-z][A-Za-z0-9_.@-]{0,63}$`)

// maxUse is the most that can be used of one thing.
const maxUse = 1_000_000_000

// Amount parses NAME=N, with N from a lowest value.
func Amount(where, value string, low int) (name string, n int, err error) {
	name, amount, ok := strings.Cut(strings.TrimSpace(value), "=")
	if !ok || !useName().MatchString(name) {
		return "", 0, job.ConfigError(where, fmt.Sprintf("%q is not NAME=N", value), "write a name of letters, digits and _ . @ -, and a number, as in matlab=1")
	}
	n, err = Count(where, amount, low, maxUse)
	return name, n, err
}

// Uses parses what a task uses, as in matlab=1,db=2; none is nothing.
func Uses(where, value string) (u job.Uses, err error) {
	if strings.TrimSpace(value) == string(job.NoUses) {
		return job.NoUses, nil
	}
	for one := range strings.SplitSeq(value, ",") {
		name, n, err := Amount(where, one, 1)
		if err != nil {
			return "", err
		}
		u = u.With(name, n)
	}
	return u, nil
}

// setUse adds to what the tasks of a bag use. The first value replaces what a spec has.
func setUse(a *Ask, where, value string) error {
	u, err := Uses(where, value)
	first := a.first("use", where)
	a.ofBag(func(b *job.BagSpec) {
		if first || u == job.NoUses {
			b.Uses = ""
		}
		if u != job.NoUses {
			for name, n := range u.All() {
				b.Uses = b.Uses.With(name, n)
			}
		}
	})
	return err
}
