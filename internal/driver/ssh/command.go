package ssh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/wire"
)

// CommandVar is the environment variable with the program that reaches hosts and its options, such as "ssh -F my-config". AgentVar is the variable with the address of the user's ssh agent.
const (
	CommandVar = "BERTH_SSH"
	AgentVar   = "SSH_AUTH_SOCK"
)

// connectTime is the longest wait until a host answers a connection. killAfter is the time after which a program that was asked to end is killed.
const (
	connectTime = 10 * time.Second
	killAfter   = 8 * time.Second
)

// options are added to every connection, after the user's own options, which have priority. BatchMode is needed as nobody can type a password. The connection
// is not shared with the user's other ones (ControlMaster), as a shared connection would keep forwarded streams open and would not end with the worker.
var options = strings.Fields(fmt.Sprintf("-T -x -o BatchMode=yes -o ConnectTimeout=%d -o ServerAliveInterval=20 -o ServerAliveCountMax=4 -o ControlMaster=no "+
	"-o ControlPath=none -o RemoteCommand=none -o ClearAllForwardings=yes -o PermitLocalCommand=no", int(connectTime.Seconds())))

// command returns the command that runs a shell script on a host. The script contains no single quotes, so that every shell of a user passes it on unchanged.
func command(ctx context.Context, r *wire.Remote, script string) *exec.Cmd {
	words := strings.Fields(r.Command)
	if len(words) == 0 {
		words = []string{"ssh"}
	}
	words = slices.Concat(words, options, r.Options, []string{"--", r.Host.Name, "exec /bin/sh -c '" + script + "'"})
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

// output runs a script on a host and returns its standard output.
func output(ctx context.Context, r *wire.Remote, script string) (string, error) {
	cmd := command(ctx, r, script)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = errors.New("it does not answer")
		}
		return "", unreached(r, err, said(cmd.ProcessState.ExitCode(), out.String(), errs.String()))
	}
	return out.String(), nil
}
