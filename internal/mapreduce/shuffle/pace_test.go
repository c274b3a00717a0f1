package shuffle

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Several bodies that are read at once share the rate of their reduce, which is at least leastRate.
func TestPace(t *testing.T) {
	for _, tt := range []struct {
		bytes int64
		takes time.Duration
	}{{0, 0}, {1, 7 * time.Second}, {4 << 20, 7 * time.Second / 4}} {
		synctest.Test(t, func(t *testing.T) {
			p := NewPace(tt.bytes)
			begun := time.Now()
			var readers sync.WaitGroup
			for range 4 {
				readers.Go(func() {
					body := p.limit(t.Context(), io.NopCloser(bytes.NewReader(make([]byte, 7*leastRate/4+pieceSize/4))))
					if n, err := io.Copy(io.Discard, body); n != 7*leastRate/4+pieceSize/4 || err != nil {
						t.Error(n, err)
					}
				})
			}
			readers.Wait()
			if took := time.Since(begun).Round(time.Millisecond); took != tt.takes {
				t.Errorf("with %d bytes/s it took %v, want %v", tt.bytes, took, tt.takes)
			}
		})
	}
}

// A read that waits for the rate ends with its attempt.
func TestPaceEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	body := NewPace(1).limit(ctx, io.NopCloser(bytes.NewReader(make([]byte, 2*pieceSize))))
	if _, err := io.Copy(io.Discard, body); err == nil {
		t.Error("it read on")
	}
}

// A changed rate applies from then on, and a nil Pace sets no limit.
func TestPaceChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(1)
		read := func(n int) time.Duration {
			begun := time.Now()
			if _, err := io.Copy(io.Discard, p.limit(t.Context(), io.NopCloser(bytes.NewReader(make([]byte, n))))); err != nil {
				t.Fatal(err)
			}
			return time.Since(begun).Round(time.Millisecond)
		}
		read(pieceSize) // what may come at once
		p.Set(4 * leastRate)
		if took := read(8 * leastRate); took != 2*time.Second {
			t.Errorf("it took %v", took)
		}
		p.Set(0)
		if took := read(8 * leastRate); took != 0 {
			t.Errorf("without a limit it took %v", took)
		}
	})
}
