package home

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"
)

// TestOwner: who holds the lock is told beside it, for as long as it does.
func TestOwner(t *testing.T) {
	h := open(t)
	begun := time.Now()
	release, err := h.Own(begun)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Own(begun); !errors.Is(err, ErrLocked) {
		t.Errorf("a second one: %v", err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	var o Owner
	if err := ReadJSON(h.owner(), &o); err != nil || o.Host != host || o.PID != os.Getpid() || begun.Sub(o.Started) >= time.Second || o.Started.After(begun) {
		t.Errorf("told %+v, %v", o, err)
	}
	release()
	if _, err := os.Stat(h.owner()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("afterwards: %v", err)
	}
	again, err := h.Own(begun)
	if err != nil {
		t.Fatalf("a lock that was let go: %v", err)
	}
	again()
}

// TestElsewhere: only one that holds the lock and is another machine's is elsewhere.
func TestElsewhere(t *testing.T) {
	here, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	other := &Owner{Host: here + "-2", PID: 7, Started: time.Unix(1e9, 0).UTC()}
	tests := []struct {
		name  string
		owner *Owner
		held  bool
		want  *Owner
	}{
		{"nobody was told", nil, true, nil},
		{"this machine", &Owner{Host: here, PID: 7}, true, nil},
		{"another machine", other, true, other},
		{"another machine's that died", other, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := open(t)
			if tt.owner != nil {
				if err := WriteJSON(h.owner(), tt.owner); err != nil {
					t.Fatal(err)
				}
			}
			if tt.held {
				f, err := TryLock(h.Lock())
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = f.Close() }()
			}
			got, err := h.Elsewhere()
			if err != nil || (got == nil) != (tt.want == nil) || got != nil && *got != *tt.want {
				t.Errorf("got %+v, %v; want %+v", got, err, tt.want)
			}
			if f, err := TryLock(h.Lock()); tt.held != errors.Is(err, ErrLocked) {
				t.Errorf("the lock afterwards: %v", err)
			} else if err == nil {
				_ = f.Close()
			}
		})
	}
}

func TestDamagedOwner(t *testing.T) {
	h := open(t)
	if err := os.WriteFile(h.owner(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := h.Elsewhere(); o != nil || err != nil {
		t.Errorf("it bars the way: %+v, %v", o, err)
	}
}
