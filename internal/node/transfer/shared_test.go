package transfer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

func TestShared(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int{"tool": 9, "big/a": 5, "big/b": 5, "small/a": 1, "small/b": 1, "alone": 99} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	three := []job.Entry{{"a"}, {"b"}, {"a"}}
	for _, c := range []struct {
		name    string
		bag     job.BagSpec
		entries []job.Entry
		want    string
	}{
		{"words", job.BagSpec{Command: []string{"./tool", "big/{}"}}, three, "[0 2]"},
		{"shell", job.BagSpec{Command: []string{"./tool <big/{}"}, Shell: true}, append(three, job.Entry{"b"}), "[0 2] [1 3]"},
		{"inputs", job.BagSpec{Command: []string{"true"}, Inputs: []string{"big/{}"}}, three, "[0 2]"},
		{"the largest", job.BagSpec{Command: []string{"true", "small/{1}", "big/{2}"}}, []job.Entry{{"a", "a"}, {"a", "b"}, {"b", "b"}, {"b", "c"}, {"b", "d"}}, "[1 2] [0] [3 4]"},
		{"a folder", job.BagSpec{Command: []string{"true", "{2}", "{1}"}}, []job.Entry{{"big", "alone"}, {"small", "alone"}, {"big", "alone"}, {"small", ""}}, "[0 2] [1 3]"},
		{"each its own", job.BagSpec{Command: []string{"./tool", "big/{}"}}, three[:2], ""},
		{"no files", job.BagSpec{Command: []string{"true", "{}", "/big/{}", "../big/{}", "."}}, three, ""},
		{"what an earlier run left", job.BagSpec{Command: []string{"true", "big/{1}", "small/{2}"}, Outputs: []string{"small/{2}"}}, []job.Entry{{"a", "a"}, {"b", "a"}, {"c", "b"}}, ""},
		{"what tasks leave", job.BagSpec{Command: []string{"./tool", "none/{}"}, Outputs: []string{"none/{}"}}, three, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.bag.Stdout, c.bag.Stderr = job.Discard, job.Discard
			var got []string
			for _, h := range Shared(&job.Spec{Dir: dir, Bag: &c.bag}, len(c.entries), func(i int) job.Entry { return c.entries[i] }) {
				got = append(got, h.Host+fmt.Sprint(h.Tasks))
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
