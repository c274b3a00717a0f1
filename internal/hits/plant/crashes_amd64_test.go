package plant

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCrashed checks that a program that was ended by a signal is not planted again, by this process
// or another, and that the shell that started it still is.
func TestCrashed(t *testing.T) {
	program := compile(t, "odd", "-O1")
	dir := t.TempDir()
	p := &Planter{Dir: dir}
	argv := []string{"/bin/sh", "-c", program + " crash; exit 134"}
	s, _ := planted(t, p, exact, nil, argv...)
	if programs, _ := s.Planted(); programs != 2 || !s.Crashed() {
		t.Fatalf("%d were planted: %q", programs, s.Why())
	}
	for name, p := range map[string]*Planter{"same": p, "other": {Dir: dir}} {
		s, _ := planted(t, p, exact, nil, argv...)
		if programs, _ := s.Planted(); programs != 1 || s.Why() != errCrashed.Error() {
			t.Errorf("%s: %d were planted: %q", name, programs, s.Why())
		}
	}
	s, _ = planted(t, fresh(t), exact, nil, "/bin/sh", "-c", "ulimit -v 8000000; exec "+program)
	if s.Crashed(); (&Planter{Dir: dir}).crashed("no such program") {
		t.Error("a program is not planted that never crashed")
	}
}

// TestStaticBehindLauncher checks that a static program that a shell starts is counted.
func TestStaticBehindLauncher(t *testing.T) {
	program := compile(t, "counts", "-O1", "-static")
	s, got := planted(t, fresh(t), exact, nil, "/bin/sh", "-c", program+" 0 2 50; exit 3")
	if hits(s, program)["child"] != 2 || got.status.ExitStatus() != 3 {
		t.Errorf("%v, %q, %+v", hits(s, program), s.Why(), got)
	}
}

// TestNoRegularFile checks that planting does not wait at a FIFO whose path is that of a mapped file.
func TestNoRegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Planter{}).open(path, nil); err == nil {
		t.Error("a FIFO is an object")
	}
	if why := refuse(path); why != "" {
		t.Errorf("refused: %s", why)
	}
}

// TestWhole checks programs of which nothing may be planted although their objects can be analysed.
func TestWhole(t *testing.T) {
	program := compile(t, "locks")
	s, got := planted(t, fresh(t), exact, nil, program)
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), "mlockall") || got.status.ExitStatus() != 7 {
		t.Errorf("%v, %+v", s.Err(), got)
	}
}
