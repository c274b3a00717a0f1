package pbs

import (
	"os"
	"path/filepath"
	"testing"

	"berth/internal/driver/batch"
)

// TestRepeatedID: a job is another one than the one with this id that was submitted if it does not have the mark of its script.
func TestRepeatedID(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "batch-1a.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		variables, dir string
		other          bool
	}{
		{"PBS_O_HOME=/home/me," + mark + "=batch-1a.sh", dir, false},
		{"PBS_O_HOME=/home/me," + mark + "=batch-2b.sh", dir, true},
		{"PBS_O_HOME=/home/me", dir, true},
		{"", dir, false}, // the server hides it
		{"PBS_O_HOME=/home/me", "", false},
		{"PBS_O_HOME=/home/me", t.TempDir(), false},
	} {
		r := record{"": "4.pbs", "Variable_List": c.variables}
		if got := r.isOther(batch.Job{ID: "4.pbs", Dir: c.dir}); got != c.other {
			t.Errorf("%+v: %t", c, got)
		}
	}
}
