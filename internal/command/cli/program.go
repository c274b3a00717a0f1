package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
	path := below(s.Dir, here)
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	runs := st.Mode().Perm()&0o111 != 0
	do := "write " + here
	if !runs {
		do = "run chmod +x " + job.Quote(name)
		if here != name {
			do += " and write " + here
		}
		do += fmt.Sprintf(", or name what runs it, as in %s %s", interpreter(path), name)
	}
	switch {
	case here != name:
		return job.ArgumentError("command", fmt.Sprintf("%s is in this folder, but not in PATH", name), do)
	case !runs:
		return job.ArgumentError("command", name+" is not executable", do)
	}
	return nil
}

// CheckPresent returns an error for a program that this machine does not have. It is for bags that run here: one such error instead
// of one for each task. What another job or a later call may still bring is not judged.
func CheckPresent(s *job.Spec) error {
	b := s.Bag
	if b == nil || b.Shell || b.Open || s.Stage != nil || len(s.After) > 0 || len(b.Command) == 0 || strings.Contains(b.Command[0], "{") ||
		slices.ContainsFunc(b.EnvSaid, func(v string) bool { return strings.HasPrefix(v, "PATH=") }) {
		return nil
	}
	name := b.Command[0]
	if !strings.Contains(name, "/") {
		if _, err := exec.LookPath(name); errors.Is(err, exec.ErrNotFound) {
			return job.ArgumentError("command", "there is no program "+job.Quote(name)+" in PATH", "check its name, or install it")
		}
		return nil
	}
	if _, err := os.Stat(below(s.Dir, name)); errors.Is(err, fs.ErrNotExist) {
		return job.ArgumentError("command", "there is no file "+job.Quote(name), "check its name and the current folder")
	}
	return nil
}

// below returns a path that is relative to dir.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// interpreter returns the program that the first line of a script names, or one for the ending of its name.
func interpreter(path string) string {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close() // only read
		line, _ := bufio.NewReader(io.LimitReader(f, 200)).ReadString('\n')
		if words := strings.Fields(strings.TrimPrefix(line, "#!")); strings.HasPrefix(line, "#!") && len(words) > 0 {
			return filepath.Base(words[len(words)-1]) // behind /usr/bin/env, too
		}
	}
	if by, ok := map[string]string{".py": "python3", ".pl": "perl", ".R": "Rscript", ".rb": "ruby", ".jl": "julia"}[filepath.Ext(path)]; ok {
		return by
	}
	return "sh"
}
