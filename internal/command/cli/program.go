package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/internal/core/job"
)

// checkProgram returns an error for a script that cannot be run as the command names it, so that this is told once and not by
// each task. A program that this machine does not have is not judged, as nodes may have it.
func checkProgram(s *job.Spec) error {
	b := s.Bag
	if b.Shell || len(b.Command) == 0 || strings.Contains(b.Command[0], "{") {
		return nil
	}
	name := b.Command[0]
	here := name
	if !strings.Contains(name, "/") {
		if _, err := exec.LookPath(name); err == nil {
			return nil
		}
		here = "./" + name
	}
	path := here
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Dir, path)
	}
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	runs := st.Mode().Perm()&0o111 != 0
	do := "write " + here
	if !runs {
		do = fmt.Sprintf("run chmod +x %s and write %s, or name what runs it, as in python3 %s", job.Quote(name), here, name)
	}
	switch {
	case here != name:
		return job.ArgumentError("command", fmt.Sprintf("%s is in this folder, but not in PATH", name), do)
	case !runs:
		return job.ArgumentError("command", name+" is not executable", do)
	}
	return nil
}
