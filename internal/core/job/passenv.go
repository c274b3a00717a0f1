package job

import (
	"slices"
	"strings"
)

// passed are the user's variables that tasks always get on rented machines.
var passed = []string{"PATH", "TZ", "LANG", "LANGUAGE"}

// Withhold removes the variables of the user's environment (own) from the environment of the job's tasks, except locale, time zone, PATH and those that
// --pass-env names. So no key in a variable reaches a rented machine by accident. Variables that a job file or -cmdenv sets stay.
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
