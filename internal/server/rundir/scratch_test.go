package rundir

import (
	"os"
	"path/filepath"
	"testing"

	"berth/internal/core/job"
)

func TestCheckScratch(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for scratch, good := range map[string]bool{
		"": true, dir: true, filepath.Join(dir, "new", "deep"): true, file: false, filepath.Join(file, "below"): false, dir + "/\xff": false,
	} {
		if err := checkScratch(scratch); (err == nil) != good || err != nil && job.CodeOf(err) != job.CodeConfig {
			t.Errorf("%q: %v", scratch, err)
		}
	}
}
