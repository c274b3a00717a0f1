package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// closedPort returns an address at which nobody listens until the test ends: it is taken.
func closedPort(t *testing.T) string {
	t.Helper()
	fd := must[int](t)(unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0))
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name := must[unix.Sockaddr](t)(unix.Getsockname(fd))
	return fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
}

// silentPort returns an address that takes connections and says nothing until the test ends.
func silentPort(t *testing.T) string {
	t.Helper()
	ln := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	t.Cleanup(func() { ln.Close() })
	return ln.Addr().String() // the kernel takes them
}

// The coordinator is found wherever it is among addresses that refuse, at which a
// stranger answers, or that swallow what is sent to them. That those are not waited for
// until their time is over shows in that the whole is cut short well before.
func TestDialPassesBadAddresses(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	l, _ := listen(t, ours)
	stranger, _ := listen(t, theirs)
	good := l.Addr().String()
	bad := map[string]string{"refuses": closedPort(t), "stranger": stranger.Addr().String(), "swallows": silentPort(t)}
	orders := [][]string{{"good", "swallows"}, {"refuses", "good"}, {"stranger", "good"}, {"swallows", "good"},
		{"swallows", "refuses", "stranger", "good", "swallows"}}
	for _, order := range orders {
		b := &Bundle{Identity: ours.worker(t, "a1/0")}
		for _, what := range order {
			addr := bad[what]
			if what == "good" {
				addr = good
			}
			b.Addrs = append(b.Addrs, addr)
		}
		ctx, cancel := context.WithTimeout(t.Context(), dialTime-time.Second) // before what swallows fails
		c, err := Dial(ctx, b)
		cancel()
		if err != nil {
			t.Errorf("%v: %v", order, err)
			continue
		}
		if got := c.RemoteAddr().String(); got != good {
			t.Errorf("%v: connected to %s, want %s", order, got, good)
		}
		if err := c.Send(&Hello{Version: Version, Node: "a1/0"}); err != nil { // it outlives the race
			t.Errorf("%v: %v", order, err)
		}
		if _, h, err := l.Accept(); err != nil || h.Node != "a1/0" {
			t.Errorf("%v: %+v, %v", order, h, err)
		}
		c.Close()
	}
}

// Who connects second, when the race is won, hangs up and leaves nothing behind.
func TestDialKeepsOneConnection(t *testing.T) {
	a := newAuthority(t)
	first, r := listen(t, a)
	id, second, over := a.worker(t, "a1/0"), make(chan struct{}), make(chan struct{})
	won, _ := race([]string{"first", "second"}, func(addr string) (*Conn, error) {
		if addr == "first" {
			<-second // is under way
		} else {
			close(second)
			<-over
		}
		return dialAt(t.Context(), first.Addr().String(), id)
	})
	if won == nil {
		t.Fatal("no connection")
	}
	close(over)
	<-r.more // the listener sees it go
	if err := won.Send(&Hello{Version: Version, Node: "a1/0"}); err != nil {
		t.Error(err)
	}
	if _, _, err := first.Accept(); err != nil {
		t.Error(err)
	}
	won.Close()
}

// What is told where no address will do: trying again helps unless all are strangers.
func TestDialNoneWillDo(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	one, _ := listen(t, theirs)
	two, _ := listen(t, theirs)
	strangers := []string{one.Addr().String(), two.Addr().String()}
	tests := []struct {
		name  string
		addrs []string
		want  job.Class
	}{
		{"nobody", []string{closedPort(t), closedPort(t)}, job.Transient},
		{"strangers", strangers, job.Fatal},
		{"both", []string{strangers[0], closedPort(t)}, job.Transient},
		{"no addresses", nil, job.Fatal},
	}
	for _, tt := range tests {
		if c, err := Dial(t.Context(), &Bundle{Addrs: tt.addrs, Identity: ours.worker(t, "a1/0")}); err == nil || job.ClassOf(err) != tt.want {
			t.Errorf("%s: %v, %v", tt.name, c, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Dial(ctx, &Bundle{Addrs: strangers, Identity: ours.worker(t, "a1/0")}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
