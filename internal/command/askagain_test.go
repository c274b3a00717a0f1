package command

import (
	"errors"
	"net"
	"net/http"
	"testing"

	"berth/internal/server/control"
	"berth/internal/sys/statedir"
)

// TestAgain: a coordinator that hangs up, as it is ending, is asked again, and so is the
// one that comes after it, until there is an answer or nobody.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		after http.HandlerFunc // of the coordinator that follows; nil: there is none
		ok    func(error) bool
	}{
		{"gone", nil, func(err error) bool { return errors.Is(err, control.ErrNoServer) }},
		{"another", func(http.ResponseWriter, *http.Request) {}, func(err error) bool { return err == nil }},
		{"another that refuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) },
			func(err error) bool { return err != nil && !errors.Is(err, control.ErrLost) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			h, err := statedir.Open()
			if err != nil {
				t.Fatal(err)
			}
			ending := listen(t, h)
			if ending == nil {
				return
			}
			go func() {
				if conn, err := ending.Accept(); err == nil {
					if c.after != nil {
						serve(t, h, c.after)
					} else {
						_ = ending.Close()
					}
					_ = conn.Close()
				}
			}()
			if err := control.Again(t.Context(), func() error { return control.NewClient(h).Stop(t.Context(), false) }); !c.ok(err) {
				t.Errorf("%v", err)
			}
		})
	}
}

func listen(t *testing.T, h statedir.Home) net.Listener {
	t.Helper()
	l, err := control.Listen(h.Socket())
	if err != nil {
		t.Error(err)
		return nil
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// serve answers what is asked of a coordinator from now on.
func serve(t *testing.T, h statedir.Home, f http.HandlerFunc) {
	t.Helper()
	if l := listen(t, h); l != nil {
		go func() { _ = http.Serve(l, f) }()
	}
}
