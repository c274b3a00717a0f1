package main

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/coordinator"
	"berth/internal/home"
	"berth/internal/job"
)

func standInHome(t *testing.T) home.Home {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := home.Open()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// waiting waits for the place in the background; it returns what is closed when it has it.
func waiting(t *testing.T, ctx context.Context, h home.Home) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := awaitPlace(ctx, h, slog.New(slog.DiscardHandler)); err != nil {
			t.Error(err)
		}
	}()
	return done
}

// TestAwaitPlace: one that waits for the place of a coordinator lets a live one alone however long
// that takes, and takes the place once nobody has it for several looks in a row.
func TestAwaitPlace(t *testing.T) {
	h := standInHome(t)
	synctest.Test(t, func(t *testing.T) {
		own, err := h.Own(time.Now(), false)
		if err != nil {
			t.Fatal(err)
		}
		done := waiting(t, t.Context(), h)
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
	h := standInHome(t)
	synctest.Test(t, func(t *testing.T) {
		dead, err := home.TryLock(h.Lock())
		if err == nil {
			defer func() { _ = dead.Close() }()
			err = home.WriteJSON(filepath.Join(h.Server(), "owner"), home.Owner{ID: "dead", Host: "gone.cluster", PID: 1})
		}
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-waiting(t, t.Context(), h)
		if time.Since(began) < wakeSilence {
			t.Errorf("the lock is broken after %v", time.Since(began))
		}
		own, err := h.Own(time.Now(), true)
		if err != nil {
			t.Fatal(err)
		}
		defer own.Release()
		if _, err := h.Own(time.Now(), true); !errors.Is(err, home.ErrLocked) {
			t.Errorf("a second one: %v", err)
		}
	})
}

// TestClaim: a coordinator that finds a stand-in asks for its place, again each second, and only that.
func TestClaim(t *testing.T) {
	h := standInHome(t)
	own, err := h.Own(time.Now(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Release()
	place := claim{home: h, left: lockTime}
	if place.standIn(nil) || place.standIn(errors.New("disk full")) || !place.standIn(coordinator.ErrRunning) {
		t.Error("a stand-in is not told from others")
	}
	asked := 0
	for range int(3 * time.Second / lockPause) {
		if err := errors.Join(h.ForgetWish(), place.ask()); err != nil {
			t.Fatal(err)
		}
		if h.PlaceWanted() {
			asked++
		}
		place.left -= lockPause
	}
	if asked != 3 || place.left > takeOverTime {
		t.Errorf("it has asked %d times in 3 s and has %v left", asked, place.left)
	}
	if err := place.refused(); job.ClassOf(err) != job.User {
		t.Errorf("refused: %v", err)
	}
}
