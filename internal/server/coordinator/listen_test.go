package coordinator

import (
	"cmp"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

// TestListenForWorkers: where a coordinator listens from the start, and once a worker on a node has got keys, and that whoever has keys gets in.
func TestListenForWorkers(t *testing.T) {
	ca, err := wire.GenerateCA(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	id, err := ca.IssueCoordinator()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		listen       string
		first, later string // the host listened on; "": none
		err          bool
	}{
		{"", "", "::", false},
		{"127.0.0.1", "127.0.0.1", "", false},
		{"*", "::", "", false},
		{":0", "", "::", false},
		{"no place", "", "", true},
		{"192.0.2.7", "", "", true}, // of no machine
	}
	for _, tt := range tests {
		s := &Server{opts: Options{Listen: tt.listen}, log: slog.New(slog.DiscardHandler), ca: ca, id: id, home: statedir.Home{Dir: t.TempDir()}, stopped: make(chan struct{})}
		if err := os.Mkdir(s.home.Server(), 0o700); err != nil {
			t.Fatal(err)
		}
		host := func() string {
			if s.address() == s.home.WorkerSocket() {
				return ""
			}
			host, _, _ := net.SplitHostPort(s.address())
			return strings.Replace(host, "0.0.0.0", "::", 1) // a machine without IPv6
		}
		err := s.listenForWorkers()
		if tt.err {
			if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), wire.ListenVar) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil || host() != tt.first {
			t.Errorf("%+v: listens at %s, %v", tt, s.address(), err)
		}
		for _, addresses := range []func() ([]string, error){s.socketAddress, s.nodeAddresses, s.nodeAddresses} {
			path := filepath.Join(t.TempDir(), "bundle")
			if err := s.issue("a1/0", path, addresses); err != nil {
				t.Fatal(err)
			}
			b, err := wire.LoadBundle(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := wire.Dial(t.Context(), b)
			if err != nil {
				t.Errorf("%+v: a worker that is told %q finds nobody: %v", tt, b.Addrs, err)
				continue
			}
			_ = c.Close() // nothing was said on it
		}
		if want := cmp.Or(tt.later, tt.first); host() != want {
			t.Errorf("%+v: listens at %s for nodes, want %s", tt, s.address(), want)
		}
		close(s.stopped)
	}
}
