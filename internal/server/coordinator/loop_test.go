package coordinator

import (
	"runtime"
	"testing"
)

// TestGatherSharesRound: on one core, inputs that others are about to post share a round with the one that has begun it. The runtime may
// let the loop go on before them, but not each time.
func TestGatherSharesRound(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const posts = 5
	for range 20 {
		s, n := &Server{posted: make(chan func(), posts)}, 0
		for range posts {
			go s.post(func() { n++ })
		}
		if s.gather(func() { n++ }); n == posts+1 {
			return
		}
	}
	t.Error("each of them has a round of its own")
}

// TestGatherBounds: a round ends after maxRound inputs, although there are more.
func TestGatherBounds(t *testing.T) {
	s, n := &Server{posted: make(chan func(), 2*maxRound)}, 0
	for range 2 * maxRound {
		s.post(func() { n++ })
	}
	if s.gather(func() { n++ }); n != maxRound || len(s.posted) != maxRound+1 {
		t.Errorf("%d inputs in a round, %d are left", n, len(s.posted))
	}
}
