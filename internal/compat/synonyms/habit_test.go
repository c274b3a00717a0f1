package synonyms

import (
	"slices"
	"testing"
)

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		words []string
		here  string
	}{
		{[]string{"job", "list", "--all"}, "berth status"},
		{[]string{"jobs"}, "berth status"},
		{[]string{"job", "cat", "1", "stdout"}, "berth cat JOB [TASK...]"},
		{[]string{"server", "frobnicate"}, ""},
		{nil, ""},
	} {
		if here, known := Command(c.words); here != c.here || known != (c.here != "") {
			t.Errorf("%q: %q, %v", c.words, here, known)
		}
	}
	if _, known := Command([]string{"job", "bogus"}); !known {
		t.Error("of a command with an unknown word after it what is known of the first word is said")
	}
}

func TestUnder(t *testing.T) {
	if got := Under("server"); !slices.Equal(got, []string{"info"}) {
		t.Errorf("under server: %q", got)
	}
	first := Under("")
	if !slices.Contains(first, "submit") || !slices.Contains(first, "job") || !slices.IsSorted(first) {
		t.Errorf("first words: %q", first)
	}
}

func TestFlag(t *testing.T) {
	for _, name := range []string{"gres", "gpus-per-node", "dependency", "m"} {
		if _, known := Flag(name); !known {
			t.Errorf("nothing is said of %s", name)
		}
	}
	if here, known := Flag("cpus"); here != "--cpus-per-task" || !known {
		t.Errorf("cpus: %q, %v", here, known)
	}
	if _, known := Flag("bogus"); known {
		t.Error("a flag of nobody is known")
	}
}
