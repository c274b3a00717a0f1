package test

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestLogOfRefused checks that repeated connections without keys to the coordinator's port do
// not fill the log.
func TestLogOfRefused(t *testing.T) {
	t.Parallel()
	const dials = 500
	w := newWorld(t)
	w.listen()
	w.must("server", "start")
	s, _ := w.serverStatus()
	for range dials {
		c, err := net.Dial("tcp", s.Address)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Write([]byte("GET / HTTP/1.0\r\n\r\n")) // it may have been turned away already
		_ = c.Close()
	}
	w.must("bag", "--", "true", ":::", "x")
	b, err := os.ReadFile(w.home().ServerLog())
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), "connection refused"); n == 0 || n > dials/5 {
		t.Errorf("%d of %d refused connections have a line", n, dials)
	}
}
