package catalogue

import (
	"testing"

	"berth/internal/job"
	"berth/internal/plan/front"
)

// TestConfiguration: types and how many of each.
func TestConfiguration(t *testing.T) {
	counts, err := Configuration("--only", "a=3, b=1", []front.Type{{Name: "a"}, {Name: "b"}})
	if err != nil || counts[0] != 3 || counts[1] != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	for _, bad := range []string{"", "a", "a=-1", "c=1", "a=0"} {
		if _, err := Configuration("--only", bad, []front.Type{{Name: "a"}}); job.CodeOf(err) != job.CodeArguments {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
