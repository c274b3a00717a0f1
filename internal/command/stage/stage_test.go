package stage

import (
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
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(); job.CodeOf(err) != job.CodeOutputExists {
		t.Errorf("a folder with parts: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(p.Folder, "out")); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(); err != nil {
		t.Errorf("a folder with scripts only: %v", err)
	}
}
