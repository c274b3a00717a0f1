package job

import (
	"slices"
	"strings"
)

// ofLocale are the variables for language and time zone, on which results may depend. Those that begin with LC_ are such, too.
var ofLocale = []string{"LANG", "LANGUAGE", "TZ"}

// Apart returns the spec for hosts that do not see the user's files. Tasks there have the environment of their host, and of the user's the
// variables that the job file or -cmdenv sets, those that --pass-env or more names, and those for language and time zone. The others stay on the
// user's machine: they say what is so there (HOME, TMPDIR), and may contain keys.
func (s *Spec) Apart(more ...string) *Spec {
	named := slices.Concat(ofLocale, s.Request.Remote.PassEnv, more)
	part := func(env, said []string) []string {
		return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
			name, _, _ := strings.Cut(kv, "=")
			return !slices.Contains(said, kv) && !strings.HasPrefix(name, "LC_") && !slices.Contains(named, name)
		})
	}
	apart := *s
	if s.Bag != nil {
		bag := *s.Bag
		bag.Env, apart.Bag = part(bag.Env, bag.EnvSaid), &bag
	}
	if s.MapReduce != nil {
		mr := *s.MapReduce
		mr.Env, apart.MapReduce = part(mr.Env, mr.CmdEnv), &mr
	}
	return &apart
}
