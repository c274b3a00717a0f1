package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestCheckProgram: a script that the command cannot run is refused, with what helps; what this machine does not have is not judged.
func TestCheckProgram(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"fit.py": 0o644, "map.pl": 0o644, "run.sh": 0o755, "odd": 0o644} {
		text := map[string]string{"map.pl": "#!/usr/bin/env perl\n", "odd": "#!/bin/dash\n"}[name]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for command, says := range map[string]string{
		"./run.sh": "", "/elsewhere/fit.py": "", "none.py": "", "sort": "", "{}": "", "./{}.py": "",
		"./fit.py":   "./fit.py is not executable; run chmod +x ./fit.py, or name what runs it, as in python3 ./fit.py",
		"map.pl":     "map.pl is in this folder, but not in PATH; run chmod +x map.pl and write ./map.pl, or name what runs it, as in perl map.pl",
		"run.sh":     "run.sh is in this folder, but not in PATH; write ./run.sh",
		dir + "/odd": "or name what runs it, as in dash " + dir + "/odd",
	} {
		err := checkProgram(&job.Spec{Dir: dir, Bag: &job.BagSpec{Command: []string{command, "{}"}}})
		if (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", command, err, says)
		}
	}
}
