package leader

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/statedir"
)

func open(t *testing.T) Seat {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := statedir.Open()
	if err != nil {
		t.Fatal(err)
	}
	return Of(h)
}

func thisHost(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return host
}

func write(t *testing.T, s Seat, o Owner) {
	t.Helper()
	if err := statedir.WriteJSON(s.owner(), o); err != nil {
		t.Fatal(err)
	}
}

// TestOwner: who holds the lock is told beside it, anew again and again, for as long as it does.
func TestOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, begun := open(t), time.Now()
		own, err := s.Take(begun, false)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Take(begun, false); !errors.Is(err, ErrTaken) {
			t.Errorf("a second one: %v", err)
		}
		first := s.Owner()
		if first == nil || first.Host != thisHost(t) || first.PID != os.Getpid() || !first.Started.Equal(begun) {
			t.Fatalf("told %+v", first)
		}
		time.Sleep(ownerBeat + 1)
		synctest.Wait()
		if o := s.Owner(); o == nil || !o.Alive.After(first.Alive) || o.Host != first.Host {
			t.Errorf("told %+v after %+v", o, first)
		}
		if err := own.Confirm(); err != nil {
			t.Errorf("while it lives: %v", err)
		}
		own.Release()
		own.Release() // does no harm
		if _, err := os.Stat(s.owner()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("afterwards: %v", err)
		}
		again, err := s.Take(begun, false)
		if err != nil {
			t.Fatalf("a lock that was let go: %v", err)
		}
		again.Release()
	})
}

// TestElsewhere: only one that holds the lock and is another machine's is elsewhere.
func TestElsewhere(t *testing.T) {
	here := thisHost(t)
	other := &Owner{Host: here + "-2", PID: 4711, Started: time.Unix(1e9, 0).UTC()}
	tests := []struct {
		name  string
		owner *Owner
		held  bool
		want  bool
	}{
		{"nobody was told", nil, true, false},
		{"this machine", &Owner{Host: here, PID: 7}, true, false},
		{"another machine", other, true, true},
		{"another machine's that died", other, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t)
			if tt.owner != nil {
				write(t, s, *tt.owner)
			}
			if tt.held {
				f, err := statedir.TryLock(s.home.Lock())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
			}
			err := s.Elsewhere()
			if (err != nil) != tt.want || tt.want && (job.ClassOf(err) != job.User || !strings.Contains(err.Error(), other.Host) || !strings.Contains(err.Error(), "4711")) {
				t.Errorf("got %v", err)
			}
			if f, err := statedir.TryLock(s.home.Lock()); tt.held != errors.Is(err, statedir.ErrLocked) {
				t.Errorf("the lock afterwards: %v", err)
			} else if err == nil {
				_ = f.Close()
			}
		})
	}
}

// TestYield: where locks do not hold between machines, a coordinator that is alive on
// another one is seen all the same, and one that died is followed.
func TestYield(t *testing.T) {
	for _, alive := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, begun := open(t), time.Now()
			other := Owner{Host: thisHost(t) + "-2", PID: 4711, Started: begun.UTC(), Alive: begun.UTC()}
			write(t, s, other)
			if alive { // without a lock that is seen here
				beating, err := newOwnership(s, other)
				if err != nil {
					t.Fatal(err)
				}
				beating.beating.Go(beating.beat)
				defer func() {
					close(beating.over)
					beating.beating.Wait()
					_ = beating.keep.Close()
				}()
			}
			own, err := s.Take(begun, false)
			if alive {
				if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), other.Host) {
					t.Errorf("beside a live one: %v", err)
				}
				if f, err := statedir.TryLock(s.home.Lock()); err != nil {
					t.Errorf("the lock afterwards: %v", err)
				} else {
					_ = f.Close()
				}
				return
			}
			if err != nil || time.Since(begun) < ownerPatience {
				t.Errorf("in place of a dead one: %v after %v", err, time.Since(begun))
			} else {
				own.Release()
			}
		})
	}
}
