package control

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/sys/statedir"
)

// The test binary, started with the variable, is a coordinator of that state folder that answers nothing.
const silentEnv = "BERTH_TEST_SILENT"

func beSilent(h statedir.Home) {
	if _, err := Listen(h.Socket()); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString(Ready)
	_, _ = io.Copy(io.Discard, os.Stdin) // until the test has ended
	os.Exit(0)
}

// TestSilentCoordinator: a coordinator that accepts connections and does not answer is reported with its process and its
// log, and stopped with force it is killed.
func TestSilentCoordinator(t *testing.T) {
	h := newHome(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), silentEnv+"="+h.Dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len(Ready))); err != nil {
		t.Fatal(err)
	}
	c := NewClient(h.Socket())
	c.limit = time.Millisecond
	_, hello := c.Hello(t.Context())
	for what, err := range map[string]error{"hello": hello, "stop": c.Stop(t.Context(), false), "cancel": c.Cancel(t.Context(), "mr-1", "")} {
		if !Silent(err) || job.ClassOf(err) != job.Transient {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for _, says := range []string{strconv.Itoa(cmd.Process.Pid), h.ServerLog(), "berth server stop --force"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %q does not say %q", what, err, says)
			}
		}
	}
	if killed, err := c.ForceStop(t.Context()); killed != cmd.Process.Pid || err != nil {
		t.Errorf("killed %d, %v; want %d", killed, err, cmd.Process.Pid)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		t.Errorf("the process ended with %v", err)
	}
	if _, err := NewClient(h.Socket()).Hello(t.Context()); !errors.Is(err, ErrNoServer) { // a millisecond may be over before it is refused
		t.Errorf("after its end: %v", err)
	}
	if o := leader.Of(h).Owner(); o != nil {
		t.Errorf("owner %v", o)
	}
}

// TestPatience: only changes may take long.
func TestPatience(t *testing.T) {
	c := NewClient("socket")
	for path, want := range map[string]time.Duration{"/v1/jobs": workTime, "/v1/server/stop?force=true": answerTime} {
		if got := c.patience("POST " + path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := c.patience("GET /v1/jobs"); got != answerTime {
		t.Errorf("a question: %v", got)
	}
}
