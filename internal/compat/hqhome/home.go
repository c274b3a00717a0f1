// Package hqhome creates a folder with a command hq that programs take for HyperQueue's, and implements this command. Its jobs
// are tasks of open bags. It starts nothing itself: what it needs of berth it is given as [Bags].
package hqhome

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
)

// Version is the version of HyperQueue whose command lines are understood.
const Version = "0.26.2"

// Write writes bin/hq to the folder dir, which may exist already. berth is the program that is run, and flags are those of the
// bags that the jobs become tasks of. All paths are absolute.
func Write(dir, berth string, flags []string) error {
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	quoted := make([]string, len(flags))
	for i, f := range flags {
		quoted[i] = job.Quote(f)
	}
	script := fmt.Sprintf("#!/bin/sh\n# Written by berth hq-home: berth in the place of HyperQueue.\nexport BERTH_HQ_HOME=%s BERTH_HQ_FLAGS=%s\nexec %s hq \"$@\"\n",
		job.Quote(dir), job.Quote(strings.Join(quoted, " ")), job.Quote(berth))
	return os.WriteFile(filepath.Join(bin, "hq"), []byte(script), 0o755)
}
