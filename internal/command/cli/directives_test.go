package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
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
	for _, w := range []string{"--mem, --time-limit, --cpus-per-task, --stdout, --partition, --array", "not used: #PBS lines, -e all.err, --mail-type=END"} {
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

// TestScriptRanks: the number of processes that a script asks for is that of each task's ranks, and what it asks for a node is divided among them.
func TestScriptRanks(t *testing.T) {
	for _, c := range []struct {
		lines, flags string
		want         job.Gang
		need         job.Resources
		says         string
	}{
		{"-N 2", "", job.Gang{Ranks: 2, RanksPerNode: 1}, job.Resources{CPUs: 1}, "are taken as --ranks 2, --ranks-per-node 1 for each task"},
		{"--ntasks=8 --mem-per-cpu=1G", "", job.Gang{Ranks: 8}, job.Resources{CPUs: 1}, "not used: --mem-per-cpu=1G"},
		{"-n8 --mem=8G", "", job.Gang{Ranks: 8}, job.Resources{CPUs: 1}, "not used: --mem=8G"},
		{"--nodes=1 -n 8 --mem=8G -c 2", "", job.Gang{Ranks: 8, RanksPerNode: 8}, job.Resources{CPUs: 2, Mem: 1 << 30}, ""},
		{"-N 2 -n 7", "", job.Gang{Ranks: 7, RanksPerNode: 4}, job.Resources{CPUs: 1}, ""},
		{"-N 2 --ntasks-per-node=4 --gres=gpu:a100:4 --mem=16G", "", job.Gang{Ranks: 8, RanksPerNode: 4}, job.Resources{CPUs: 1, GPUs: 1, GPUType: "a100", Mem: 4 << 30}, ""},
		{"-N 2 --gpus-per-node=4", "", job.Gang{Ranks: 2, RanksPerNode: 1}, job.Resources{CPUs: 1, GPUs: 4}, ""},
		{"--ntasks-per-node=3 --gres=gpu:4", "", job.Gang{Ranks: 3, RanksPerNode: 3}, job.Resources{CPUs: 1}, "not used: --gres=gpu:4"},
		{"--ntasks-per-node=4 -n 6", "", job.Gang{Ranks: 6, RanksPerNode: 4}, job.Resources{CPUs: 1}, ""},
		{"-N 1 -n 1 --gres=gpu:2 --mem=2G", "", job.Gang{}, job.Resources{CPUs: 1, GPUs: 2, Mem: 2 << 30}, "are taken as --gpus, --mem for each task"},
		{"-N 2-4 --gpus=8", "", job.Gang{}, job.Resources{CPUs: 1}, "not used: -N 2-4, --gpus=8"},
		{"-N 2 -n 8 --mem=8G", "--ranks 4", job.Gang{Ranks: 4}, job.Resources{CPUs: 1}, "not used: -N 2, -n 8, --mem=8G"},
		{"-n 8", "--ranks-per-node 4", job.Gang{Ranks: 8, RanksPerNode: 4}, job.Resources{CPUs: 1}, ""},
		{"-N 1 -n 2 --mem=1K", "", job.Gang{Ranks: 2, RanksPerNode: 2}, job.Resources{CPUs: 1, Mem: 1 << 20}, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "s.sh"), []byte("#!/bin/sh\n#SBATCH "+c.lines+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		o := &BagOptions{Env: []string{}}
		s, _, err := parseBagWith(o, dir, append(strings.Fields(c.flags), "-a", "1", "./s.sh"), nil)
		if err != nil || s.Bag.Gang != c.want || s.Bag.Need != c.need || !strings.Contains(strings.Join(o.Notes, "; "), c.says) {
			t.Errorf("%s %s: %+v of %+v, %v, %q", c.lines, c.flags, s.Bag.Gang, s.Bag.Need, err, o.Notes)
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

// TestMoreNodesThanTasks: nodes that no task can use are told, as a task of one rank is on one node.
func TestMoreNodesThanTasks(t *testing.T) {
	for args, told := range map[string]bool{"-N 2 echo ::: 1": true, "-N 2-4 echo ::: 1": true, "-N 2 echo ::: 1 2": false, "-N 1-2 echo ::: 1": false, "-N 2 --open echo": false,
		"-N 2 --ranks 2 echo ::: 1": false, "-N 3 --ranks 2 echo ::: 1": true} {
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
