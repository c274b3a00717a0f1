package straggler

import (
	"fmt"
	"strings"

	"berth/internal/core/job"
)

// Rules returns the rules of berth, the one that is used if the user names none first. The laboratory has further ones.
func Rules() []Rule { return []Rule{Berth{}, Nothing{}, Paper{}, Paper{Aborting: true}} }

// RuleNamed returns the rule of that name among those given; the empty name means the first. where names the flag or file
// of the name, for the error.
func RuleNamed(where, name string, among []Rule) (Rule, error) {
	names := make([]string, len(among))
	for i, r := range among {
		if r.Name() == name || name == "" {
			return r, nil
		}
		names[i] = r.Name()
	}
	return nil, job.ConfigError(where, fmt.Sprintf("there is no rule %q", name), "write "+strings.Join(names, ", "))
}
