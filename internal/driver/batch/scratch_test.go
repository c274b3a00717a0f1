package batch

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/sys/private"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// TestTokenThatExists checks that a file that another user created under the name of the token file is
// neither read nor written, and that nothing waits for it.
func TestTokenThatExists(t *testing.T) {
	for name, plant := range map[string]func(path, victim string) error{
		"FIFO":             func(path, _ string) error { return unix.Mkfifo(path, 0o666) },
		"dangling symlink": func(path, victim string) error { return os.Symlink(victim, path) },
		"folder":           func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		dir, victim := t.TempDir(), filepath.Join(t.TempDir(), "victim")
		if err := errors.Join(os.Chmod(dir, 0o700), plant(filepath.Join(dir, wire.TokenName), victim)); err != nil {
			t.Fatal(err)
		}
		if tok, err := driver.Token(dir); !errors.As(err, new(*private.Untrusted)) {
			t.Errorf("%s: token %q, %v", name, tok, err)
		}
		if _, err := os.Lstat(victim); err == nil {
			t.Errorf("%s: the file behind it was created", name)
		}
	}
	dir := filepath.Join(t.TempDir(), "scratch")
	first, err := driver.Token(dir)
	if err != nil || first == "" {
		t.Fatal(first, err)
	}
	if again, err := driver.Token(dir); again != first || err != nil {
		t.Errorf("read again the token is %q, %v; it was %q", again, err, first)
	}
}

// TestScratchName checks that the name of the folder in a scratch root cannot be predicted, and that it is the
// same when the allocation is adopted, also with the name of an earlier version.
func TestScratchName(t *testing.T) {
	d := &site{Options: Options{Scratch: "/scratch"}}
	a := &alloc{id: "a3", dir: t.TempDir(), req: job.AllocRequest{Nodes: 1}}
	first := d.scratch(a)
	if filepath.Dir(first) != "/scratch" || !strings.HasPrefix(filepath.Base(first), a.scratchPrefix()) || d.scratch(a) == first {
		t.Errorf("%q, then %q", first, d.scratch(a))
	}
	for _, known := range []string{first, "/scratch/" + a.scratchPrefix() + "0a1b2c3d"} {
		if err := statedir.WriteJSON(a.file(0, configEnd), wire.WorkerConfig{Scratch: known}); err != nil {
			t.Fatal(err)
		}
		if got := d.scratch(a); got != known {
			t.Errorf("%q is noted, and %q used", known, got)
		}
	}
	if err := statedir.WriteJSON(a.file(0, configEnd), wire.WorkerConfig{Scratch: "/home/user"}); err != nil {
		t.Fatal(err)
	}
	if got := a.scratchNoted(); got != "" {
		t.Errorf("%q, which is no folder of the driver's, would be removed", got)
	}
}
