package job

import (
	"slices"
	"testing"
)

// TestWithhold checks that rented machines get only the listed ones of the user's variables, and all that the job sets.
func TestWithhold(t *testing.T) {
	own := []string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=s", "LC_ALL=C", "MODEL=big", "HOME=/root"}
	s := Spec{Bag: &BagSpec{Env: append(slices.Clone(own), "SEED=3", "HOME=/srv")}}
	s.Request.Remote.Rent.PassEnv = []string{"MODEL"}
	s.Withhold(own)
	if want := []string{"PATH=/bin", "LC_ALL=C", "MODEL=big", "SEED=3", "HOME=/srv"}; !slices.Equal(s.Bag.Env, want) {
		t.Errorf("tasks get %q, want %q", s.Bag.Env, want)
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
