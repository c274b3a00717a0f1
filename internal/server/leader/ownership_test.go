package leader

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// brokenLock makes the lock of the state folder one that another process can take, too, as on a
// file system whose locks do not hold between machines.
func brokenLock(t *testing.T, s Seat) {
	t.Helper()
	if err := os.Remove(s.home.Lock()); err != nil {
		t.Fatal(err)
	}
}

// TestTakenOver: an owner whose place another has taken, though it holds its lock, is told so
// when it next asks, and writes over nothing of the other's.
func TestTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		first, err := s.Take(time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		close(first.over) // it is paused: no beat any more
		<-first.stopped
		first.over = make(chan struct{})
		brokenLock(t, s)
		second, err := s.Take(time.Now(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer second.Release()
		if err := first.Confirm(); err != nil {
			t.Errorf("what was confirmed a moment ago: %v", err)
		}
		time.Sleep(ownerTrust)
		synctest.Wait()
		if err := first.Confirm(); !errors.Is(err, ErrTakenOver) {
			t.Errorf("the first goes on: %v", err)
		}
		select {
		case <-first.Lost():
		default:
			t.Error("the first is not told")
		}
		told := *s.Owner()
		if err := first.renew(first.told); !errors.Is(err, ErrTakenOver) {
			t.Errorf("the first renews: %v", err)
		}
		first.Release()
		if o := s.Owner(); o == nil || *o != told || o.ID != second.told.ID || !o.StandIn {
			t.Errorf("the second is told as %+v", o)
		}
		if err := second.Confirm(); err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}

// TestPausedOwner: who takes the place of a silent owner of this machine, whose lock it does
// not see, waits until that owner would ask before it wrote; one that beats keeps its place.
func TestPausedOwner(t *testing.T) {
	for _, beats := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, begun := open(t), time.Now()
			write(t, s, Owner{ID: "other", Host: thisHost(t), PID: os.Getppid(), Started: begun.UTC(), Alive: begun.UTC()})
			if beats {
				other, err := newOwnership(s, *s.Owner())
				if err != nil {
					t.Fatal(err)
				}
				other.start()
				defer func() {
					close(other.over)
					<-other.stopped
					_ = other.keep.Close()
				}()
			}
			own, err := s.Take(begun, false)
			if beats {
				if !errors.Is(err, ErrTaken) {
					t.Errorf("beside a live one: %v", err)
				}
				return
			}
			if err != nil || time.Since(begun) <= ownerTrust {
				t.Fatalf("in place of a paused one: %v after %v", err, time.Since(begun))
			}
			own.Release()
		})
	}
}

// TestRemovedOwner: an owner file that is gone was another owner's, which has ended since.
func TestRemovedOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t)
		own, err := s.Take(time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(s.owner()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ownerTrust)
		synctest.Wait()
		if err := own.Confirm(); !errors.Is(err, ErrTakenOver) {
			t.Errorf("got %v", err)
		}
		own.Release()
	})
}

// TestWish: a stand-in hears who wants its place since it began, whatever was wanted before.
func TestWish(t *testing.T) {
	s := open(t)
	if s.wanted() || s.Stopped() {
		t.Error("wanted by nobody")
	}
	for range 2 {
		if err := s.ask(); err != nil {
			t.Fatal(err)
		}
		if !s.wanted() {
			t.Error("the wish is not heard")
		}
		if err := s.ForgetWish(); err != nil {
			t.Fatal(err)
		}
		if s.wanted() {
			t.Error("an old wish counts")
		}
	}
	if st, err := os.Stat(filepath.Join(s.home.Server(), "wanted")); err != nil || st.Size() != wishLength || st.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", st, err)
	}
	if err := errors.Join(s.Unstop(), s.Stop()); err != nil || !s.Stopped() {
		t.Errorf("stopped %t, %v", s.Stopped(), err)
	}
	if err := s.Unstop(); err != nil || s.Stopped() {
		t.Errorf("stopped %t, %v", s.Stopped(), err)
	}
}
