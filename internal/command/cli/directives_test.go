package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/driver/registry"
)

// TestDirectives: what a script's #SBATCH lines ask for is taken for each task, flags replace it, and what is not used is named.
func TestDirectives(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/bash\n#SBATCH --mem=300M --time 5   # minutes\n#SBATCH -c2\n\n##SBATCH --mem=9G\n# text\n#SBATCH -o out-%A_%a.txt\n#SBATCH -e all.err\n" +
		"#SBATCH -p short\n#SBATCH --nodes=1 -n 1\n#SBATCH --mail-type=END --array=3-4\n#PBS -l x\necho ran\n#SBATCH --mem=8G\n"
	if err := os.WriteFile(filepath.Join(dir, "s.sh"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	o := &BagOptions{Env: []string{}}
	s, entries, err := parseBagWith(o, dir, []string{"./s.sh"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Bag
	if b.Need.Mem != 300<<20 || b.Need.CPUs != 2 || b.TimeLimit != 5*time.Minute || s.Request.Partition != "short" || len(entries) != 2 || !b.Array ||
		b.Stdout != filepath.Join(dir, "out-{job}_{task}.txt") {
		t.Errorf("the bag is %+v, %+v, %q", b, s.Request, entries)
	}
	notes := strings.Join(o.Notes, "; ")
	for _, w := range []string{"--mem, --time-limit, --cpus-per-task, --stdout, --partition, --array", "not used: #PBS lines, all.err, --mail-type=END"} {
		if !strings.Contains(notes, w) {
			t.Errorf("%q is not said: %s", w, notes)
		}
	}
	for _, args := range [][]string{{"--on", "local", "--mem", "1G", "-a", "1", "bash", "s.sh"}, {"--on", "local", "--mem", "1G", "bash", "-e", "s.sh", ":::", "x"}} {
		s, entries, err = parseBagWith(&BagOptions{Env: []string{}}, dir, args, nil)
		if err != nil || s.Bag.Need.Mem != 1<<30 || s.Bag.Need.CPUs != 2 || len(entries) != 1 || s.Request.Partition != "" {
			t.Errorf("with flags it is %+v, %q, %v", s, entries, err)
		}
	}
	for _, args := range [][]string{{"cat", "s.sh", ":::", "x"}, {"./none.sh", ":::", "x"}, {"cat s.sh", ":::", "x"}, {"--", "{}", ":::", "./s.sh"}} {
		o := &BagOptions{Env: []string{}}
		if s, _, err := parseBagWith(o, dir, args, nil); err != nil || s.Bag.Need.CPUs != 1 || len(o.Notes) > 0 {
			t.Errorf("%q: %v, %q", args, err, o.Notes)
		}
	}
}

// TestDirectivesArePaged: a batch system's page has a row for each option of a script that is read, with what berth makes of it.
func TestDirectivesArePaged(t *testing.T) {
	for _, w := range registry.Words() {
		if w.Directives == "" {
			continue
		}
		page, err := os.ReadFile("../../../docs/" + w.Name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(page), "\n| `"+w.Mark+"` |")
		section, _, _ = strings.Cut(section, "\n\n")
		for name, here := range w.Directives.All() {
			word := "`--" + name + "`"
			if len(name) == 1 {
				word = "`-" + name + "`"
			}
			if !slices.ContainsFunc(strings.Split(section, "\n"), func(row string) bool { return strings.Contains(row, word) && strings.Contains(row, here) }) {
				t.Errorf("docs/%s.md has no row of %s %s with %s", w.Name, w.Mark, word, here)
			}
		}
	}
}

// TestMoreNodesThanTasks: nodes that no task can use are told, as a task is on one node.
func TestMoreNodesThanTasks(t *testing.T) {
	for args, told := range map[string]bool{"-N 2 echo ::: 1": true, "-N 2-4 echo ::: 1": true, "-N 2 echo ::: 1 2": false, "-N 1-2 echo ::: 1": false, "-N 2 --open echo": false} {
		o := &BagOptions{Env: []string{}}
		if _, _, err := parseBagWith(o, t.TempDir(), strings.Fields(args), nil); err != nil || len(o.Notes) > 0 != told {
			t.Errorf("%s: %v, %q", args, err, o.Notes)
		}
	}
}

// TestEndlessEntries: a file that never ends is refused by what it has, and not read for ever.
func TestEndlessEntries(t *testing.T) {
	for args, says := range map[string]string{"--each-line /dev/zero echo": "/dev/zero:1: the line has a NUL", "--null --each-line /dev/zero echo": "more than 10000000 entries"} {
		if _, _, err := parseBag(t.TempDir(), strings.Fields(args), nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", args, err, says)
		}
	}
	text := &entryText{end: '\n'}
	if _, err := text.Write([]byte(strings.Repeat("x", longestEntry) + "\nx\n")); err != nil {
		t.Error("of an entry that has an end:", err)
	}
	if _, err := text.Write(make([]byte, 1)); err == nil {
		t.Error("a NUL is read on")
	}
	for range 9 {
		if _, err := text.Write([]byte(strings.Repeat("x", 1<<20))); err != nil {
			return
		}
	}
	t.Error("a line without an end is read on")
}
