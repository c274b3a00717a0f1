package job

import (
	"slices"
	"strings"
)

// passed are the variables of a user that tasks get on machines which are not the user's.
var passed = []string{"PATH", "TZ", "LANG", "LANGUAGE"}

// Withhold takes out of the environment of the job's tasks what is in the user's own environment, but for locale, time zone, PATH and what the request
// names: a rented machine gets no keys that happen to be in a variable. What a job file or -cmdenv sets for the tasks stays.
func (s *Spec) Withhold(own []string) {
	drop := func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(own, kv) && !strings.HasPrefix(name, "LC_") && !slices.Contains(passed, name) && !slices.Contains(s.Request.Remote.Rent.PassEnv, name)
	}
	if s.Bag != nil {
		s.Bag.Env = slices.DeleteFunc(s.Bag.Env, drop)
	}
	if s.MapReduce != nil {
		s.MapReduce.Env = slices.DeleteFunc(s.MapReduce.Env, drop)
	}
}
