package leader

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/core/job"
	"berth/internal/sys/statedir"
)

// waiting waits for the place in the background; it returns what is closed when it has it.
func waiting(t *testing.T, ctx context.Context, s Seat) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := s.Await(ctx, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	}()
	return done
}

// TestAwaitPlace: one that waits for the place of a coordinator lets a live one alone however long
// that takes, and takes the place once nobody has it for several looks in a row.
func TestAwaitPlace(t *testing.T) {
	s := open(t)
	synctest.Test(t, func(t *testing.T) {
		own, err := s.Take(time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		done := waiting(t, t.Context(), s)
		time.Sleep(3 * wakeSilence)
		select {
		case <-done:
			t.Error("it does not wait for a live coordinator")
		default:
		}
		own.Release()
		left := time.Now()
		<-done
		if took := time.Since(left); took < (wakeLooks-1)*wakeLook {
			t.Errorf("it takes the place after %v", took)
		}
	})
}

// TestBreakLock: a lock whose owner says nothing for long is broken, and then given to one.
func TestBreakLock(t *testing.T) {
	s := open(t)
	synctest.Test(t, func(t *testing.T) {
		dead, err := statedir.TryLock(s.home.Lock())
		if err == nil {
			defer func() { _ = dead.Close() }()
			err = statedir.WriteJSON(filepath.Join(s.home.Server(), "owner"), Owner{ID: "dead", Host: "gone.cluster", PID: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-waiting(t, t.Context(), s)
		if time.Since(began) < wakeSilence {
			t.Errorf("the lock is broken after %v", time.Since(began))
		}
		own, err := s.Take(time.Now(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer own.Release()
		if _, err := s.Take(time.Now(), true); !errors.Is(err, ErrTaken) {
			t.Errorf("a second one: %v", err)
		}
	})
}

// TestClaim: a coordinator that finds a stand-in asks for its place, again each second, and only that.
func TestClaim(t *testing.T) {
	s := open(t)
	synctest.Test(t, func(t *testing.T) {
		own, err := s.Take(time.Now(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer own.Release()
		claim := s.Claim(time.Minute)
		if claim.Blocked(nil) || claim.Blocked(errors.New("disk full")) || !claim.Blocked(ErrTaken) {
			t.Error("a stand-in is not told from others")
		}
		asked, end := 0, time.Now().Add(3*time.Second)
		for ; time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if err := errors.Join(s.ForgetWish(), claim.Ask()); err != nil {
				t.Fatal(err)
			}
			if s.wanted() {
				asked++
			}
		}
		time.Sleep(time.Minute)
		if asked != 3 || claim.Late() {
			t.Errorf("it has asked %d times in 3 s, and has given up: %t", asked, claim.Late())
		}
		if time.Sleep(takeOverTime); !claim.Late() {
			t.Error("it waits for longer than a stand-in may take to end")
		}
		if err := claim.Refused(); job.ClassOf(err) != job.User {
			t.Errorf("refused: %v", err)
		}
	})
}
