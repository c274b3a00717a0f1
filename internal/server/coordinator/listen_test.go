package coordinator

import (
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// Where a coordinator listens, and what workers here and on nodes are told of it.
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
		listen   string
		batch    bool
		all, err bool
	}{
		{"", false, false, false},
		{"", true, true, false},
		{"127.0.0.1", true, false, false},
		{"*", false, true, false},
		{":0", true, true, false},
		{":0", false, false, false},
		{"no place", false, false, true},
	}
	for _, tt := range tests {
		s := &Server{opts: Options{Listen: tt.listen}, log: slog.New(slog.DiscardHandler), ca: ca, id: id}
		l, err := s.listenForWorkers(tt.batch)
		if tt.err {
			if job.ClassOf(err) != job.User || !strings.Contains(err.Error(), wire.ListenVar) {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
			continue
		}
		host, _, err := net.SplitHostPort(s.address)
		if err != nil || net.ParseIP(host).IsUnspecified() != tt.all {
			t.Errorf("%+v: listens at %s", tt, s.address)
		}
		for who, addrs := range map[job.NodeID][]string{"a1/0": s.reach.local, "a1/1": s.reach.nodes} {
			path := filepath.Join(t.TempDir(), "bundle")
			if err := s.issuer(addrs)(who, path); err != nil {
				t.Fatal(err)
			}
			b, err := wire.LoadBundle(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := wire.Dial(t.Context(), b)
			if err != nil {
				t.Errorf("%+v: %s, told %q, finds nobody: %v", tt, who, addrs, err)
				continue
			}
			_ = c.Close() // nothing was said on it
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
