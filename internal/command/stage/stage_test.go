package stage

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestCheck: the number of parts is found, and stages that cannot run are refused.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in.txt")
	folder := filepath.Join(dir, "many")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, filepath.Join(folder, "a"), filepath.Join(folder, "b"), filepath.Join(folder, "c")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := map[string]string{Split: "x"}
	for _, tt := range []struct {
		plan  Plan
		parts int
		err   string
	}{
		{Plan{Input: file}, 6, ""},
		{Plan{Input: file, Parts: 4}, 4, ""},
		{Plan{Input: folder}, 3, ""},
		{Plan{Input: folder, Parts: 3}, 3, ""},
		{Plan{Input: folder, Parts: 4}, 0, "has 3 files"},
		{Plan{Input: folder, Parts: 4, Scripts: script}, 4, ""},
		{Plan{Scripts: script}, 6, ""},
		{Plan{}, 0, "is missing"},
		{Plan{Input: filepath.Join(dir, "none")}, 0, "no such file"},
		{Plan{Input: file, Output: file}, 0, "exists"},
	} {
		if tt.plan.Output == "" {
			tt.plan.Output = filepath.Join(dir, "out")
		}
		err := tt.plan.Check(6)
		switch {
		case tt.err == "" && (err != nil || tt.plan.Parts != tt.parts):
			t.Errorf("%+v: %d parts, want %d, %v", tt.plan, tt.plan.Parts, tt.parts, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || job.ClassOf(err) != job.User):
			t.Errorf("%+v: error %v, want %q", tt.plan, err, tt.err)
		}
	}
}

// TestWrite refuses a folder with parts, and takes one of which only the scripts are left.
func TestWrite(t *testing.T) {
	p := &Plan{Folder: filepath.Join(t.TempDir(), "x.parts"), Parts: 2}
	free := func() error { return nil }
	if err := p.Write(free); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(free); job.CodeOf(err) != job.CodeOutputExists {
		t.Errorf("a folder with parts: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(p.Folder, "out")); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(free); err != nil {
		t.Errorf("a folder with scripts only: %v", err)
	}
}

// TestMended: a job file that was changed finds the parts of the run before, unless they are of another split, and what the operation has
// made of them if that is the same. Without parts the folder is made anew.
func TestMended(t *testing.T) {
	for _, tt := range []struct {
		what      string
		split     bool // the split has ended
		change    func(p *Plan, input string)
		busy      bool
		err       string
		in, after bool // the parts and what was made of them are there after it
	}{
		{"nothing", true, func(*Plan, string) {}, false, "berth resume", true, true},
		{"operation", true, func(p *Plan, _ string) { p.Scripts[Operation] = "y" }, false, "", true, false},
		{"operation, while it runs", true, func(p *Plan, _ string) { p.Scripts[Operation] = "y" }, true, "busy", true, true},
		{"merge", true, func(p *Plan, _ string) { p.Scripts[Merge] = "y" }, false, "", true, true},
		{"split", true, func(p *Plan, _ string) { p.Scripts[Split] = "y" }, false, "another split", true, true},
		{"split that has failed", false, func(p *Plan, _ string) { p.Scripts[Split] = "y" }, false, "", false, false},
		{"number of parts", true, func(p *Plan, _ string) { p.Parts = 3; p.Scripts[Operation] = "y" }, false, "another split", true, true},
		{"input", true, func(p *Plan, in string) {
			if err := os.WriteFile(in, []byte("longer"), 0o600); err != nil {
				t.Fatal(err)
			}
			p.Scripts[Operation] = "y"
		}, false, "another input", true, true},
	} {
		dir := t.TempDir()
		in := filepath.Join(dir, "in")
		if err := os.WriteFile(in, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		plan := func() *Plan {
			return &Plan{Input: in, Folder: filepath.Join(dir, "x.parts"), Parts: 2, Scripts: map[string]string{Split: "x", Operation: "x", Merge: "x"}}
		}
		p := plan()
		if err := p.Write(func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		parts, made := filepath.Join(p.Folder, "in"), filepath.Join(p.Folder, "out", "1")
		if tt.split {
			if err := errors.Join(os.Mkdir(parts, 0o700), os.WriteFile(made, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		p = plan()
		tt.change(p, in)
		err := p.Write(func() error {
			if tt.busy {
				return &job.Error{What: "busy"}
			}
			return nil
		})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.what, err, tt.err)
		}
		if tt.split && err == nil && p.Remove() != nil {
			t.Errorf("%s: the folder cannot be given up", tt.what)
		}
		_, noParts := os.Stat(parts)
		_, noneMade := os.Stat(made)
		if (noParts == nil) != tt.in || (noneMade == nil) != tt.after {
			t.Errorf("%s: parts %v, what was made of them %v", tt.what, noParts, noneMade)
		}
		if script, _ := os.ReadFile(filepath.Join(p.Folder, "operation.script")); err == nil && !strings.Contains(string(script), p.Scripts[Operation]) {
			t.Errorf("%s: the script is %q", tt.what, script)
		}
	}
}
