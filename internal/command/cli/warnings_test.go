package cli

import (
	"testing"

	"berth/internal/core/job"
)

// TestWarnings: a bag whose command has a word for a shell that does not run is warned of, from flags and from a job file.
func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		words  []string
		warned bool
	}{{[]string{"sort", "{}", "|", "uniq"}, true}, {[]string{"sort {} | uniq"}, false}, {[]string{"cut", "-d", "|", "-f", "1", "{}"}, false}} {
		b := &job.BagSpec{}
		if err := b.SetCommand(tt.words, false); err != nil {
			t.Fatal(err)
		}
		if got := Warnings(&job.Spec{Bag: b}); len(got) > 0 != tt.warned {
			t.Errorf("%q: %q", tt.words, got)
		}
	}
}
