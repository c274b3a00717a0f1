package streaming

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestPrograms: what would fail every attempt at a task is told before the job is
// taken on, or warned of.
func TestPrograms(t *testing.T) {
	dir, env := userDir(t)
	tests := []struct {
		name, text string
		mode       os.FileMode
		args       string // $ stands for the script's path
		refused    string
		warned     string
	}{
		{"sound", "#!/bin/sh\n", 0o755, "-mapper $", "", ""},
		{"sound, with env", "#!/usr/bin/env python3\n", 0o755, "-mapper $", "", ""},
		{"sound, with env and an option", "#!/usr/bin/env -S python3 -u\n", 0o755, "-mapper $", "", ""},
		{"not executable, but shipped", "#!/bin/sh\n", 0o644, "-mapper $ -file $", "", ""},
		{"not executable, named from here", "#!/bin/sh\n", 0o644, "-mapper script.x", "", ""},
		{"not executable, at its own place", "#!/bin/sh\n", 0o644, "-mapper $", "", ""},
		{"not executable, in a folder", "#!/bin/sh\n", 0o644, "-files $/..#tools -mapper tools/script.x", "chmod +x", ""},
		{"executable, in a folder", "#!/bin/sh\n", 0o755, "-files $/..#tools -mapper tools/script.x", "", ""},
		{"Windows line ends", "#!/bin/sh\r\n", 0o755, "-mapper $", "Windows line ends", ""},
		{"Windows line ends, with env", "#!/usr/bin/env python3\r\n", 0o755, "-reducer $ -file $", "Windows line ends", ""},
		{"Windows line ends that perl takes", "#!/usr/bin/perl -w\r\n", 0o755, "-mapper $", "", ""},
		{"Windows line ends that python takes", "#!/bin/sh\r\n", 0o644, "-mapper python3,script.x", "", ""},
		{"byte order mark", "\xef\xbb\xbf#!/bin/sh\n", 0o755, "-combiner $", "byte order mark", ""},
		{"no interpreter", "#!/usr/bin/python2.3\n", 0o755, "-mapper $", "/usr/bin/python2.3, which is not here", ""},
		{"no interpreter, with env", "#!/usr/bin/env python\n", 0o755, "-mapper $", "interpreter python, which is not here", ""},
		{"nothing behind #!", "#!\ntrue\n", 0o755, "-mapper $", "names no interpreter", ""},
		{"a shell script without #!", "exec cat\n", 0o755, "-mapper $ -file $#map.sh", "", "/bin/sh runs it"},
		{"compiled", "\x7fELF\x00", 0o755, "-mapper $", "", ""},
		{"elsewhere", "#!/usr/bin/python2.3\r\n", 0o644, "-mapper $ --on slurm", "", ""},
	}
	for _, tt := range tests {
		file := filepath.Join(dir, "script.x")
		write(t, file, tt.text, tt.mode)
		if err := os.Chmod(file, tt.mode); err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, a := range strings.Fields(strings.ReplaceAll(tt.args, "$", file)) {
			args = append(args, strings.ReplaceAll(strings.ReplaceAll(a, "script.x/..", ""), ",", " "))
		}
		r, err := Parse(append(args, "-input", "in", "-output", "out"), dir, env)
		switch {
		case tt.refused != "":
			if err == nil || job.CodeOf(err) != job.CodeConfig || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: got %v, want %q", tt.name, err, tt.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.warned == "" && len(r.Warnings) > 0,
			!strings.Contains(strings.Join(r.Warnings, "\n"), tt.warned):
			t.Errorf("%s: warnings are %q, want %q", tt.name, r.Warnings, tt.warned)
		}
	}
}

// What cannot be read is refused before tasks try to. As root everything can, unless it
// is not there.
func TestUnreadableFileIsNotShipped(t *testing.T) {
	dir, env := userDir(t)
	b := newBuilder(dir, env)
	err := b.addFile("-file", job.ShipFile{Path: filepath.Join(dir, "gone"), Name: "gone"})
	if job.CodeOf(err) != job.CodeConfig || len(b.mr.Files) != 0 {
		t.Errorf("got %v, ships %v", err, b.mr.Files)
	}
}

// TestSums: what a program's file is known by is its content, but for the dates and ids that generated scripts have.
func TestSums(t *testing.T) {
	dir, env := userDir(t)
	sum := func(text string) string {
		t.Helper()
		file := filepath.Join(dir, "wrapper.sh")
		write(t, file, text, 0o755)
		r, err := Parse([]string{"-input", "in", "-output", "out", "-mapper", "sh wrapper.sh", "-file", file, "-file", file + "#other"}, dir, env)
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Spec.MapReduce.Files[1]; f.Sum != "" {
			t.Errorf("%s is summed, and no program names it", f.Name)
		}
		return r.Spec.MapReduce.Files[0].Sum
	}
	base := sum("exec 9>/tmp/lock.job.me.20260101.101112.123456\n")
	if got := sum("exec 9>/tmp/lock.job.me.20261231.235959.999999\n"); got != base || base == "" {
		t.Errorf("with another date %q, %q", got, base)
	}
	if got := sum("exec 9>/tmp/lock.job.me.20260101.101112.123456; sleep 5\n"); got == base {
		t.Error("with another command it is the same")
	}
}
