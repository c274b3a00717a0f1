package straggler

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// Rules returns the rules of berth, the one that is used if the user names none first. The laboratory has further ones.
func Rules() []Rule { return []Rule{Berth{}, Nothing{}, Paper{}, Paper{Aborting: true}} }

// RuleNamed returns the rule of that name among those given; the empty name means the first. The name of the paper's rule may have a
// threshold, as in paper:0.2. where names the flag or file of the name, for the error.
func RuleNamed(where, name string, among []Rule) (Rule, error) {
	names := make([]string, len(among))
	base, threshold, tuned := strings.Cut(name, ":")
	t, err := strconv.ParseFloat(threshold, 64)
	for i, r := range among {
		p, paper := r.(Paper)
		switch {
		case r.Name() == name || name == "":
			return r, nil
		case tuned && paper && p.Name() == base && err == nil && t > 0 && t < math.MaxFloat64:
			p.T = t
			return p, nil
		}
		names[i] = r.Name()
	}
	do := "write " + strings.Join(names, ", ")
	if tuned {
		do += "; only those of the paper have a threshold T, above 0, as in paper:0.2"
	}
	return nil, job.ConfigError(where, fmt.Sprintf("there is no rule %q", name), do)
}
