package job

import (
	"slices"
	"testing"
)

// TestApart: hosts that do not see the user's files get of the environment only what the job sets, what --pass-env names, and language and time zone,
// for either kind of job. The spec itself stays as it is.
func TestApart(t *testing.T) {
	own := []string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=s", "LC_ALL=C", "TZ=UTC", "MODEL=big", "HOME=/root"}
	said := []string{"SEED=3", "HOME=/srv"}
	env, want := slices.Concat(own, said), []string{"LC_ALL=C", "TZ=UTC", "MODEL=big", "SEED=3", "HOME=/srv"}
	for _, s := range []Spec{{Bag: &BagSpec{Env: env, EnvSaid: said}}, {MapReduce: &MapReduceSpec{Env: env, CmdEnv: said}}} {
		s.Request.Remote.PassEnv = []string{"MODEL"}
		of := func(s *Spec) []string {
			if s.Bag != nil {
				return s.Bag.Env
			}
			return s.MapReduce.Env
		}
		if got := of(s.Apart()); !slices.Equal(got, want) {
			t.Errorf("tasks get %q, want %q", got, want)
		}
		if got := of(s.Apart("PATH")); !slices.Equal(got, append([]string{"PATH=/bin"}, want...)) {
			t.Errorf("with PATH tasks get %q", got)
		}
		if !slices.Equal(of(&s), slices.Concat(own, said)) {
			t.Errorf("the spec itself has %q", of(&s))
		}
	}
}

// TestRanks checks that ranks of machines follow the order of types, and that First keeps the first ranks.
func TestRanks(t *testing.T) {
	r := Rent{Machines: []Rented{{Name: "a", Count: 2}, {Name: "b:spot", Count: 1}}}
	for rank, want := range []int{0, 0, 1, -1} {
		if got := r.Wanted(rank); got != want {
			t.Errorf("the machine of rank %d is of type %d, want %d", rank, got, want)
		}
	}
	if got := r.First(2).String(); got != "a=2" {
		t.Errorf("the first two are %s", got)
	}
	if r.String() != "a=2,b:spot=1" || !r.Machines[1].Spot() || r.Machines[0].Spot() {
		t.Errorf("%v", r)
	}
}
