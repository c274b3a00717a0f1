package process

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// Cookie is a variable, NAME=VALUE, in the environment of the tasks of one node. It identifies
// their processes after their worker has died.
type Cookie string

const cookieName = "BERTH_NODE"

// NewCookie creates a new cookie for a node.
func NewCookie(node job.NodeID) Cookie {
	secret := make([]byte, 8)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return Cookie(cookieName + "=" + string(node) + "." + hex.EncodeToString(secret))
}

// ParseCookie returns the cookie in a line of text, or "" if the line is not a cookie.
func ParseCookie(line string) Cookie {
	if !strings.HasPrefix(line, cookieName+"=") {
		return ""
	}
	return Cookie(line)
}

// taskBatchJob is the variable with the batch job in which berth started a task. It differs from the batch job of
// a process (BatchVariables.Job) in a batch job that a task submitted with its whole environment, including the cookie.
// Such a batch job does not belong to the task and is not killed.
const taskBatchJob = "BERTH_NODE_JOB"

// batchJob returns the batch job of a process with that environment.
func (v BatchVariables) batchJob(env []string) string {
	var ids []string
	for _, s := range v.Systems {
		if id := job.Getenv(env, s.Job); id != "" && s.Job != "" {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}

// sameJob reports whether a process with that environment is in the same batch job as its task.
func (v BatchVariables) sameJob(env []string) bool {
	was, known := job.LookupEnv(env, taskBatchJob)
	return !known || was == v.batchJob(env) // an earlier version of berth did not set the variable
}

// KillPatience is how long KillAll waits for killed processes to disappear. A process that hangs in
// the kernel, for example on a dead file server, may never disappear.
const KillPatience = 10 * time.Second

// KillAll kills every process that carries the cookie, except those in batch jobs of their own, those that bare lists (Bare), and the descendants of
// all these. They are processes that tasks left behind. A process that forks meanwhile is found in the next round.
func (c Cookie) KillAll(v BatchVariables, bare string, log *slog.Logger) error {
	doomed := make(map[string]bool) // by PID and start
	for _, id := range strings.Fields(bare) {
		doomed[id] = true
	}
	for begin := time.Now(); ; {
		pids, err := c.left(v, doomed)
		if err != nil {
			return fmt.Errorf("cannot find the processes that tasks left behind: %w", err)
		}
		if len(pids) == 0 {
			return nil
		}
		log.Warn("processes that tasks left are killed", "pids", pids)
		if time.Since(begin) > KillPatience {
			log.Error("they do not die and take room from the tasks", "pids", pids)
			return nil
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL) // the process may have ended meanwhile
		}
		time.Sleep(time.Millisecond) // a killed process stays visible until the kernel has removed it
	}
}

// left returns the processes that KillAll kills, and adds them to those that are doomed.
func (c Cookie) left(v BatchVariables, doomed map[string]bool) (pids []int, err error) {
	list, err := probe.Processes()
	if err != nil {
		return nil, err
	}
	dies := make(map[int]bool)
	for _, p := range list {
		env := probe.Environ(p.PID)
		dies[p.PID] = p.PID != os.Getpid() && slices.Contains(env, string(c)) && v.sameJob(env)
	}
	for more := true; more; {
		more = false
		for _, p := range list {
			id := fmt.Sprintf("%d:%d", p.PID, p.Start)
			if (dies[p.PID] || dies[p.Parent] || doomed[id]) && !p.Ended() && !slices.Contains(pids, p.PID) {
				dies[p.PID], doomed[id], more = true, true, true
				pids = append(pids, p.PID)
			}
		}
	}
	return pids, nil
}
