package batch

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// TestJobName: a name in the queue has no characters but those that all batch systems and sites accept, whatever the job is called, and one that
// has no others is kept.
func TestJobName(t *testing.T) {
	for name, want := range map[string]string{"": "berth", "berth-cat+wc -l": "berth-cat_wc_-l", "berth-a: part 2/3": "berth-a__part_2_3",
		"7 dwarfs": "_7_dwarfs", "größe": "gr__e", "berth-fine_1.2": "berth-fine_1.2"} {
		if got := JobName(name); got != want {
			t.Errorf("%q is called %q, want %q", name, got, want)
		}
	}
	plain := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]{0,63}$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if got := JobName(name); !plain.MatchString(got) || JobName(got) != got {
			t.Errorf("%q is called %q", name, got)
		}
	})
}
