package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStarved: each process that the kernel kills because memory ran out is claimed once, by a program that ran then. Of one that nobody claims, all
// that ran then are told, and no later one is.
func TestStarved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("oom 7\noom_kill 2\n")
	s := starvation{file: func() string { return file }, running: make(map[*Process]*hardship)}
	begin := func() *Process { p := new(Process); s.begin(p); return p }
	claim := func(p *Process, want bool) {
		t.Helper()
		if s.claim(p) != want {
			t.Errorf("claimed: %v", !want)
		}
	}
	end := func(p *Process, kills int64, own bool) {
		t.Helper()
		if k, o := s.end(p); k != kills || k > 0 && o != own {
			t.Errorf("kills: %d, its own: %v; want %d, %v", k, o, kills, own)
		}
	}
	p := begin()
	claim(p, false) // earlier kills
	write("oom_kill_disable 0\nunder_oom 0\noom_kill 4\n")
	claim(p, true)
	claim(p, true)
	claim(p, false)
	end(p, 0, true)

	p = begin()
	write("oom_kill 6\n") // two of its helpers
	end(p, 2, true)
	p = begin()
	claim(p, false) // killed by hand
	end(p, 0, true)

	p, q := begin(), begin()
	write("oom_kill 7\n")
	end(p, 1, false)
	r := begin()
	claim(r, false)
	claim(q, true)
	end(q, 0, false)
	end(r, 0, false)

	p, q = begin(), begin()
	write("oom_kill 8\n")
	end(p, 1, false)
	end(q, 1, false)
	end(begin(), 0, true)

	p = begin()
	write("oom_kill 10\n") // two of its helpers
	q = begin()
	write("oom_kill 11\n")
	claim(q, true)
	end(q, 0, false)
	end(p, 2, false)

	none := starvation{file: func() string { return "" }, running: make(map[*Process]*hardship)}
	none.begin(p)
	if none.claim(p) {
		t.Error("a kill is claimed although the kernel counts none")
	}
	if f := ExitFailure(Exit{signal: unix.SIGKILL, starved: true}); f.Signal != 9 || !strings.Contains(f.Reason, "lack of memory") {
		t.Errorf("%+v", f)
	}
	if f := ExitFailure(Exit{signal: unix.SIGKILL}); strings.Contains(f.Reason, "memory") {
		t.Errorf("%+v", f)
	}
}
