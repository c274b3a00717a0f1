package coordinator

import (
	"net"
	"slices"
	"testing"

	"berth/internal/core/job"
)

// TestSpread follows workers that come and go: the coordinator keeps to one core only while all of them are on its machine.
func TestSpread(t *testing.T) {
	var set []int
	s := spread{most: 8, now: 8, set: func(n int) { set = append(set, n) }}
	near, far := &session{near: true}, &session{}
	sessions := map[job.NodeID]*session{}
	for _, change := range []func(){
		func() { sessions["a"] = near },
		func() { sessions["b"] = near },
		func() { sessions["c"] = far },
		func() { delete(sessions, "a") },
		func() { delete(sessions, "c") },
		func() { delete(sessions, "b") },
	} {
		change()
		s.adapt(sessions)
	}
	if want := []int{1, 8, 1, 8}; !slices.Equal(set, want) {
		t.Errorf("cores %v, want %v", set, want)
	}
}

func TestIsNear(t *testing.T) {
	for _, c := range []struct {
		from  net.Addr
		apart bool
		want  bool
	}{{&net.UnixAddr{}, false, true}, {&net.UnixAddr{}, true, false}, {&net.TCPAddr{IP: net.IPv4(10, 0, 0, 7)}, false, false}} {
		if got := isNear(c.from, c.apart); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
