package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/support/fleet"
)

// newFar is a world with machines that see nothing of the user's files.
func newFar(t *testing.T, machines ...fleet.Machine) (*world, *fleet.Fleet) {
	t.Helper()
	w := newWorld(t)
	f := fleet.ForTest(t, fleet.Options{Apart: true}, machines...)
	w.batch = []string{noBatch, "BERTH_SSH=" + f.Command}
	return w, f
}

// TestFarBag: a bag on two hosts that see nothing of the user's files leaves what it leaves on the user's machine.
func TestFarBag(t *testing.T) {
	t.Parallel()
	w, f := newFar(t, fleet.Names(fleet.Machine{}, "m1", "m2")...)
	w.write("tool", "#!/bin/sh\n. lib/rules.sh\nmkdir -p out/$2\nrule <$1 >out/$2/$2.txt\ncat extra/$2*; hostname >/dev/null\n")
	if err := os.Chmod(filepath.Join(w.dir, "tool"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write("lib/rules.sh", "rule() { tr a-z A-Z; }\n")
	for _, n := range []string{"a", "b", "c", "d", "e", "f"} {
		w.write("in/"+n, strings.Repeat("text of "+n+"\n", 50000))
		w.write("extra/"+n+".note", "a note on "+n+"\n")
	}
	args := []string{"bag", "--inputs", "lib", "--inputs", "extra/{/}*", "--outputs", "out/{/}", "--stdout", "printed/{task}"}
	command := []string{"--", "./tool", "{}", "{/}", ":::", "in/a", "in/b", "in/c", "in/d", "in/e", "in/f"}
	w.must(append(append(args, "--on", "local"), command...)...)
	here := w.tree("out", "printed")
	for _, name := range []string{"out", "printed"} {
		if err := os.RemoveAll(filepath.Join(w.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.must(append(append(args, "--hosts", "1/m1,1/m2"), command...)...)
	if there := w.tree("out", "printed"); here != there || strings.Count(here, "\n") < 12 {
		t.Errorf("locally:\n%s\non the hosts:\n%s", here, there)
	}
	if parts := w.hidden(); len(parts) > 0 {
		t.Errorf("left: %v", parts)
	}
	deserted(w, f.Host("m1"), f.Host("m2"))
}

// tree returns the names and contents of all files below folders of the user's.
func (w *world) tree(dirs ...string) string {
	w.t.Helper()
	var b strings.Builder
	for _, d := range dirs {
		err := filepath.WalkDir(filepath.Join(w.dir, d), func(path string, e os.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			b.WriteString(strings.TrimPrefix(path, w.dir) + " " + string(text[:min(len(text), 40)]) + "\n")
			return err
		})
		if err != nil {
			w.t.Fatal(err)
		}
	}
	return b.String()
}

// hidden returns what attempts left in the user's folder and did not put into place.
func (w *world) hidden() []string {
	w.t.Helper()
	var left []string
	err := filepath.WalkDir(w.dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), ".") && strings.HasSuffix(e.Name(), ".part") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return left
}
