package test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/internal/show/ui"
)

// TestSample tries thirty tasks of a bag that never ran on two hosts, seven of them on both. The tasks are done then, and a file has the
// others. Their front uses the measurements.
func TestSample(t *testing.T) {
	t.Parallel()
	w, _, _ := newHosts(t)
	w.write("types.toml", "[[type]]\nname = \"a\"\nprice = 1\n[[type]]\nname = \"b\"\nprice = 2\nspot_price = 1\ninterruptions = 0.1\n")
	var names strings.Builder
	for i := range 50 {
		names.WriteString("task-" + string(rune('a'+i/26)) + string(rune('a'+i%26)) + "\n")
	}
	w.write("names", names.String())
	args := []string{"sample", "--types", "a=1/h1,b=1/h2", "--catalogue", "types.toml", "--duplicates-ok", "--each-line", "names", "--rest", "left", "--idle-timeout", "1s"}
	r := w.must(append(args, "--json", "--", "sh", "-c", "n=0; while [ $n -lt 5000 ]; do n=$((n+1)); done; echo >>ran-{}")...)
	var s ui.Sampled
	w.ok(json.Unmarshal([]byte(r.stdout), &s))
	if s.Left != 20 || w.lines("left") != 20 || len(s.Types) != 2 || len(s.Front) == 0 {
		t.Fatalf("%v", r)
	}
	for _, k := range s.Types {
		if k.Tried+k.Carried != 30 || k.Tried < 18 || k.Mean <= 0 || k.Low > k.Mean || k.Up < k.Mean {
			t.Errorf("%+v", k)
		}
	}
	twice, left := 0, w.read("left")
	for name := range strings.Lines(names.String()) {
		name = strings.TrimSpace(name)
		switch n := w.lines("ran-" + name); {
		case n == 0 != strings.Contains(left, name+"\n") || n > 2:
			t.Errorf("%s ran %d times", name, n)
		case n == 2:
			twice++
		}
	}
	if twice != 7 {
		t.Errorf("%d tasks ran on both hosts", twice)
	}
	if r := w.berth("sample", "--types", "a=h1,b=h1", "--catalogue", "types.toml", "--each-line", "names", "--", "true"); !strings.Contains(r.stderr, "each type needs one host") {
		t.Errorf("%v", r)
	}
}
