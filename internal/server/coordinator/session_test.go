package coordinator

import (
	"testing"

	"berth/internal/core/step"
	"berth/internal/wire"
)

// TestWorkersSayNothingElse: what only a coordinator says, or a user, ends the connection of the worker that says it.
func TestWorkersSayNothingElse(t *testing.T) {
	for _, m := range []wire.Message{&wire.Hello{}, &wire.Sync{}, step.Start{}, step.Kill{}, step.Commit{}, step.Submit{}, step.Tick{}} {
		if err := (&Server{}).handleMessage(&session{}, m); err == nil {
			t.Errorf("a worker may say %T", m)
		}
	}
}
