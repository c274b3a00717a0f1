package control

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/sys/statedir"
)

// TestCoordinatorElsewhere: a login node that shares the state folder with the
// coordinator's says where that runs, whatever is asked, and starts no second one.
func TestCoordinatorElsewhere(t *testing.T) {
	h := newHome(t)
	l, err := Listen(h.Socket())
	if err == nil {
		err = l.Close() // as seen from another machine: a socket that nobody listens on
	}
	if err != nil {
		t.Fatal(err)
	}
	own, err := leader.Of(h).Take(time.Now(), false)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Release()
	since := time.Date(2026, 11, 21, 3, 15, 0, 0, time.Local)
	if err := statedir.WriteJSON(filepath.Join(h.Server(), "owner"), leader.Owner{Host: "login1.cluster", PID: 4711, Started: since}); err != nil {
		t.Fatal(err)
	}
	t.Setenv(saysEnv, `{"what":"a second one was started"}`)
	c := NewClient(h)
	_, ensured := Ensure(t.Context(), h)
	_, hello := c.Hello(t.Context())
	for what, err := range map[string]error{"ensure": ensured, "hello": hello, "stop": c.Stop(t.Context(), true), "cancel": c.Cancel(t.Context(), "mr-1", "")} {
		if job.ClassOf(err) != job.User || errors.Is(err, ErrNoServer) {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for _, says := range []string{"login1.cluster", "4711", "2026-11-21 03:15", "berth server stop", h.Lock()} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q does not say %q", what, err, says)
			}
		}
	}
	if err := os.Remove(filepath.Join(h.Server(), "owner")); err != nil { // it ended in order, and took its word with it
		t.Fatal(err)
	}
	own.Release()
	if _, err := os.Stat(h.Lock()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Hello(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("when it is gone: %v", err)
	}
}
