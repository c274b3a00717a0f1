package files

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTaskDirs(t *testing.T) {
	d := &TaskDirs{Root: t.TempDir()}
	take := func() string {
		t.Helper()
		dir, err := d.Acquire()
		if err != nil {
			t.Fatal(err)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Fatalf("%s holds %v (%v)", dir, entries, err)
		}
		return dir
	}
	give := func(dir string) {
		t.Helper()
		if err := d.Release(dir); err != nil {
			t.Fatal(err)
		}
	}
	first, second := take(), take()
	if first == second {
		t.Fatal("two tasks have one folder")
	}
	give(first)
	if got := take(); got != first {
		t.Errorf("%s was not lent again", first)
	}
	spoils := map[string]func(dir string) error{
		"a file":         func(dir string) error { return os.WriteFile(filepath.Join(dir, "x"), nil, 0o600) },
		"a file removed": func(dir string) error { return os.Remove(filepath.Join(dir, "x")) },
		"rights":         func(dir string) error { return os.Chmod(dir, 0o755) }, //nolint:gosec // open on purpose
		"no rights":      func(dir string) error { return os.Chmod(dir, 0) },
		"a closed folder": func(dir string) error {
			return unix.Mkdir(filepath.Join(dir, "x"), 0)
		},
	}
	for name, spoil := range spoils {
		dir := take()
		if name == "a file removed" {
			if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := spoil(dir); err != nil {
			t.Fatal(err)
		}
		give(dir)
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s: %s is kept", name, dir)
		}
	}
}
