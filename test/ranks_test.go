package test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRanksOfScript: a script that asks sbatch for two processes on two nodes is a task of two ranks, and what it took is said. The ranks' output is
// printed, the report has a line for each node, a rank that fails is named, and a task whose ranks this machine has no room for is refused at once.
func TestRanksOfScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("job.sh", "#!/bin/sh\n#SBATCH -N 2 --ntasks=2 --mem=100M\necho \"$BERTH_RANK of $BERTH_RANKS, $BERTH_MEM\"\n")
	if err := os.Chmod(filepath.Join(w.dir, "job.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := w.must("bag", "--workers", "2", "--each-rank", "--keep-order", "--array", "1", "./job.sh")
	if want := "0 of 2, 104857600\n1 of 2, 104857600\n"; r.stdout != want {
		t.Errorf("the ranks printed %q, want %q", r.stdout, want)
	}
	if !strings.Contains(r.stderr, "are taken as --ranks 2, --ranks-per-node 1, --mem for each task") {
		t.Errorf("what is taken is not said: %s", r.stderr)
	}
	if rows := w.must("report", "last", "--tasks").stdout; strings.Count(rows, "1 rank") != 2 || !strings.Contains(rows, "/0 +1") && !strings.Contains(rows, "/1 +1") {
		t.Errorf("the report has %s", rows)
	}
	if refused := w.berth("bag", "--ranks", "1000", "--array", "1", "./job.sh"); refused.code == 0 || !strings.Contains(refused.stderr, "1,000 ranks of 1 core") {
		t.Errorf("too many ranks: %v", refused)
	}
	failed := w.berth("bag", "--each-rank", "--ranks", "2", "--workers", "2", "--array", "1", "--", `[ $BERTH_RANK = 0 ] || { echo no >&2; exit 1; }`)
	if failed.code == 0 || !strings.Contains(failed.stderr, "rank 1: exit status 1") || !strings.Contains(failed.stderr, "see berth cat --stderr") {
		t.Errorf("a rank that failed: %v", failed)
	}
}
