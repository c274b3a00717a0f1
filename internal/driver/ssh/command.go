package ssh

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/wire"
)

// CommandVar is the environment variable with the program that reaches hosts, with its options: "ssh -F my-config". AgentVar is where ssh finds the user's agent.
const (
	CommandVar = "BERTH_SSH"
	AgentVar   = "SSH_AUTH_SOCK"
)

// connectTime is how long one connection may take until the host answers, and killAfter how long a program that shall end may take.
const (
	connectTime = 10 * time.Second
	killAfter   = 8 * time.Second
)

// options go with every connection, after those of the user's own, which count more. Nobody is there to be asked for a password. A connection of the
// user's that others share would keep what is forwarded over it, and not end with the worker.
var options = []string{"-T", "-x", "-o", "BatchMode=yes", "-o", fmt.Sprintf("ConnectTimeout=%d", int(connectTime.Seconds())),
	"-o", "ServerAliveInterval=20", "-o", "ServerAliveCountMax=4", "-o", "ControlMaster=no", "-o", "ControlPath=none",
	"-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no"}

// command returns the command that runs a script of the shell on a host. The script has no single quotes: whatever shell the user has there takes it so.
func command(ctx context.Context, r *wire.Remote, script string, extra ...string) *exec.Cmd {
	words := strings.Fields(r.Command)
	if len(words) == 0 {
		words = []string{"ssh"}
	}
	words = append(append(append(append(words, options...), r.Options...), extra...), "--", r.Host.Name, "exec /bin/sh -c '"+script+"'")
	if r.Host.Name == job.ThisHost {
		words = []string{"/bin/sh", "-c", script}
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = os.Environ()
	if r.Agent != "" {
		cmd.Env = append(cmd.Env, AgentVar+"="+r.Agent)
	}
	cmd.WaitDelay = killAfter
	return cmd
}

// output runs a script on a host and returns what it prints.
func output(ctx context.Context, r *wire.Remote, script string) (string, error) {
	cmd := command(ctx, r, script)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", unreached(r, err, errs.String())
	}
	return out.String(), nil
}

// unreached is the error of a host on which a command did not succeed, by what ssh said of it.
func unreached(r *wire.Remote, err error, said string) error {
	why := lastLine(said)
	if why == "" {
		why = err.Error()
	}
	e := &job.Error{Class: job.Transient, Code: job.CodeIO, Where: "host " + r.Host.Name, What: "it cannot be used: " + why}
	switch {
	case strings.Contains(said, "Host key verification failed"), strings.Contains(said, "Permission denied"):
		e.Do = "see to it that ssh " + r.Host.Name + " works without a question: log in once by hand, and use keys or an agent"
	case strings.Contains(said, "Could not resolve hostname"):
		e.Do = "look at the name in --hosts, and at ~/.ssh/config"
	}
	return e
}

// lastLine returns the last line of a text that says anything.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
