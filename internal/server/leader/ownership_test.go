package leader

import (
	"bytes"
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
		first.beating.Wait()
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
				other.beating.Go(other.beat)
				defer func() {
					close(other.over)
					other.beating.Wait()
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

// damages are what a reader may find in an owner file: a part of an old and a part of a new content, a file that a disk has changed, and
// files of other lengths.
var damages = map[string]func([]byte) []byte{
	"torn":    func(b []byte) []byte { return bytes.Replace(b, []byte(`"alive": "2`), []byte(`"alive": "1`), 1) },
	"longer":  func(b []byte) []byte { return append(b, "and more"...) },
	"shorter": func(b []byte) []byte { return b[:len(b)/2] },
	"empty":   func([]byte) []byte { return nil },
}

// damage changes the owner file in place.
func damage(t *testing.T, s Seat, how func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(s.owner())
	if err == nil {
		err = os.WriteFile(s.owner(), how(b), 0o600)
	}
	if err != nil || s.Owner() != nil {
		t.Fatalf("the file is not damaged: %+v, %v", s.Owner(), err)
	}
}

// TestDamagedOwner: a coordinator whose owner file is damaged stays the owner and writes the file anew; what another process finds
// meanwhile does not look like no owner.
func TestDamagedOwner(t *testing.T) {
	for name, how := range damages {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := open(t)
				own, err := s.Take(time.Now(), false)
				if err != nil {
					t.Fatal(err)
				}
				defer own.Release()
				damage(t, s, how)
				if o := s.look(); o == nil || own.check() != nil {
					t.Errorf("found %+v, %v", o, own.check())
				}
				time.Sleep(ownerBeat + 1)
				synctest.Wait()
				if o := s.Owner(); o == nil || o.ID != own.told.ID {
					t.Errorf("after a beat the owner is %+v", o)
				}
			})
		})
	}
}

// TestDamagedOwnerFile: a process that finds a damaged owner file, in place of which it can take the lock, watches it as one that it can
// read. It takes the place only if nobody renews it, and says whose it is otherwise.
func TestDamagedOwnerFile(t *testing.T) {
	for _, beats := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s, begun := open(t), time.Now()
			write(t, s, Owner{ID: "other", Host: "other.cluster", PID: 1, Started: begun.UTC(), Alive: begun.UTC()})
			other, err := newOwnership(s, *s.Owner())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = other.keep.Close() }()
			damage(t, s, damages["torn"])
			if beats {
				other.beating.Go(other.beat)
				defer func() { close(other.over); other.beating.Wait() }()
			}
			if err := s.Elsewhere(); err != nil {
				t.Errorf("a command: %v", err)
			}
			own, err := s.Take(begun, false)
			var there *ElsewhereError
			if beats {
				if !errors.As(err, &there) || there.Owner.ID != "other" {
					t.Errorf("beside a live one: %v", err)
				}
				return
			}
			if err != nil || time.Since(begun) <= ownerTrust {
				t.Fatalf("in place of a dead one: %v after %v", err, time.Since(begun))
			}
			own.Release()
			if err := other.check(); !errors.Is(err, ErrTakenOver) {
				t.Errorf("the first goes on: %v", err)
			}
		})
	}
}
