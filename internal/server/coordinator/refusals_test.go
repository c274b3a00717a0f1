package coordinator

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRefusals: however often connections are refused, a minute has a few lines; they say how
// many there were and from where.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		var r refusals
		log := slog.New(slog.NewTextHandler(&out, nil))
		lines := func() []string {
			synctest.Wait()
			all := strings.Split(strings.TrimSpace(out.String()), "\n")
			out.Reset()
			return all
		}
		refuse := func(n int, host byte) {
			for port := range n {
				r.note(log, &net.TCPAddr{IP: net.IPv4(10, 0, 0, host), Port: port}, errors.New("no certificate"))
			}
		}
		refuse(3, 1)
		time.Sleep(refusalWindow + 1)
		if got := lines(); len(got) != 3 || !strings.Contains(got[2], "10.0.0.1:2") || !strings.Contains(got[2], "no certificate") {
			t.Errorf("a few: %q", got)
		}
		refuse(100_000, 2)
		for host := range byte(200) {
			refuse(1+int(host)%2, 10+host)
		}
		time.Sleep(refusalWindow + 1)
		got := lines()
		if last := got[len(got)-1]; len(got) != toldRefusals+1 || !strings.Contains(last, "100295 more connections refused in the last minute") ||
			!strings.Contains(last, "10.0.0.2 (99995), ") || !strings.Contains(last, "and others") || len(last) > 300 {
			t.Errorf("many: %q", got)
		}
		time.Sleep(time.Hour)
		if got := lines(); len(got) != 1 || got[0] != "" {
			t.Errorf("none: %q", got)
		}
		refuse(1, 1)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "10.0.0.1:0") {
			t.Errorf("afterwards: %q", got)
		}
		time.Sleep(refusalWindow + 1)
	})
}
