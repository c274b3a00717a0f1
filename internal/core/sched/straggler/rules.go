package straggler

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/core/job"
)

// Rules returns all rules, berth's own last.
func Rules() []Rule {
	return []Rule{Nothing{}, Hadoop{}, LATE{}, P75{}, Mantri{}, Paper{}, Paper{Aborting: true}, Berth{}}
}

// Names returns the names of all rules.
func Names() (names []string) {
	for _, r := range Rules() {
		names = append(names, r.Name())
	}
	return names
}

// ByName returns the rule of that name. where names the flag or file of the name, for the error.
func ByName(where, name string) (Rule, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, job.ConfigError(where, fmt.Sprintf("there is no rule %q", name), "write "+strings.Join(Names(), ", "))
	}
	return Rules()[i], nil
}
