package straggler

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/job"
)

// Rules returns all rules, those of others first.
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

// ByName returns the rule of that name. where is the option that an error names.
func ByName(where, name string) (Rule, error) {
	i := slices.Index(Names(), name)
	if i < 0 {
		return nil, job.ConfigError(where, fmt.Sprintf("%q is no rule", name), "write "+strings.Join(Names(), ", "))
	}
	return Rules()[i], nil
}
