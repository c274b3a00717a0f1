package catalogue

import (
	"slices"
	"testing"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
)

// TestConfiguration: types and how many of each.
func TestConfiguration(t *testing.T) {
	counts, err := Configuration("--only", "a=3, b=1", []front.Type{{Name: "a", Limit: 3}, {Name: "b", Limit: 1}})
	if err != nil || counts[0] != 3 || counts[1] != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	for _, bad := range []string{"", "a", "a=-1", "c=1", "a=0", "a=4", "a=2,a=2"} {
		if _, err := Configuration("--only", bad, []front.Type{{Name: "a", Limit: 3}}); job.CodeOf(err) != job.CodeArguments {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestChoices: a job keeps the front on which its machines were chosen, with the choice; a single point is no front.
func TestChoices(t *testing.T) {
	chosen := 1
	v := front.View{Tipping: 0, Chosen: &chosen, Front: []front.Point{
		{Cost: 1, Makespan: 90, Low: 80, Up: 100, Machines: map[string]int{"a": 1}}, {Cost: 2, Makespan: 50, Machines: map[string]int{"b": 3, "a": 1}}, {Cost: 3, Makespan: 40, Machines: map[string]int{"b": 9}}}}
	want := []job.Choice{{Cost: 1, Makespan: 90, Low: 80, Up: 100, Machines: "a=1", Tipping: true}, {Cost: 2, Makespan: 50, Machines: "a=1,b=3", Chosen: true}, {Cost: 3, Makespan: 40, Machines: "b=9"}}
	if got := Choices(v); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	v.Front = v.Front[:1]
	if got := Choices(v); got != nil {
		t.Errorf("of one point: %+v", got)
	}
}
