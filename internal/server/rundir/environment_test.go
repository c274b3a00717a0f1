package rundir

import (
	"testing"

	"berth/internal/core/job"
)

// TestProgressVar checks that the variable counts where the user gave no option, and that a wrong value is an error.
func TestProgressVar(t *testing.T) {
	for _, c := range []struct{ option, variable, want string }{
		{"", "", ""}, {"", "hits", "hits"}, {"auto", "hits", "auto"}, {"io", "hits", "io"},
	} {
		t.Setenv(ProgressVar, c.variable)
		spec := &job.Spec{Bag: &job.BagSpec{Progress: c.option}}
		if err := fromEnvironment(spec); err != nil || spec.Bag.Progress != c.want {
			t.Errorf("option %q, variable %q: %q, %v", c.option, c.variable, spec.Bag.Progress, err)
		}
	}
	t.Setenv(ProgressVar, "hit")
	if err := fromEnvironment(&job.Spec{Bag: &job.BagSpec{}}); job.CodeOf(err) != job.CodeArguments {
		t.Errorf("a wrong value: %v", err)
	}
}
