package coordinator

import (
	"io"
	"log/slog"
	"testing"

	"berth/internal/sys/statedir"
)

func options(t *testing.T) Options {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	h, err := statedir.Open()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Home: h, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}
