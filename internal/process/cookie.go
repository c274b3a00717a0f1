package process

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/job"
	"berth/internal/probe"
)

// Cookie is a variable, NAME=VALUE, in the environment of the tasks of one node, by which
// their processes are known again after their worker died.
type Cookie string

const cookieName = "BERTH_NODE"

// NewCookie makes the cookie of a node that has none yet.
func NewCookie(node job.NodeID) Cookie {
	secret := make([]byte, 8)
	_, _ = rand.Read(secret) // never fails (crypto/rand)
	return Cookie(cookieName + "=" + string(node) + "." + hex.EncodeToString(secret))
}

// ParseCookie returns the cookie in a line of text, empty where the line is none.
func ParseCookie(line string) Cookie {
	if !strings.HasPrefix(line, cookieName+"=") {
		return ""
	}
	return Cookie(line)
}

// batchJob is the variable that tells which batch job a process is in, and taskBatchJob what
// berth found there when it started the task. They differ in a batch job that a task has
// submitted with all of its environment, the cookie too: such a job is not the task's to end.
const (
	batchJob     = "SLURM_JOB_ID"
	taskBatchJob = "BERTH_NODE_JOB"
)

// sameBatchJob reports whether a process is in the batch job that its task was in.
func sameBatchJob(lookup func(name string) (string, bool)) bool {
	was, told := lookup(taskBatchJob)
	is, _ := lookup(batchJob)
	return !told || was == is // an earlier berth did not tell
}

// KillPatience is how long a killed process is waited for: one that hangs in the
// kernel, on a dead file server say, may never go.
const KillPatience = 10 * time.Second

// KillAll kills every process that carries the cookie, batch jobs of their own aside: what
// tasks left that nobody waits for. One that forks meanwhile is found in the next round.
func (c Cookie) KillAll(log *slog.Logger) error {
	for begin := time.Now(); ; {
		pids, err := probe.WithEnv(string(c), sameBatchJob)
		if err != nil {
			return fmt.Errorf("look for processes that tasks left: %w", err)
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
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended by itself
		}
		time.Sleep(time.Millisecond) // a killed process stays visible until it is torn down
	}
}

// threads is the variable that tells programs how many threads to use.
const threads = "OMP_NUM_THREADS"

// TaskEnv returns the user's environment with what berth tells each of its tasks:
// own, the cookie, and how many threads to use, for programs that would else
// start one for each core of the machine. A name is there once only, since which of
// two a program sees is up to it. What an outer berth told its task is taken out.
func (c Cookie) TaskEnv(user []string, cpus int, own ...string) []string {
	own = append(own, string(c), taskBatchJob+"="+job.Getenv(user, batchJob))
	if _, set := job.LookupEnv(user, threads); !set {
		own = append(own, threads+"="+strconv.Itoa(cpus))
	}
	env := make([]string, 0, len(user)+len(own))
	for _, kv := range user {
		name, _, _ := strings.Cut(kv, "=")
		if _, replaced := job.LookupEnv(own, name); !replaced && !strings.HasPrefix(name, "BERTH_") && name != "SLURM_ARRAY_TASK_ID" {
			env = append(env, kv)
		}
	}
	return append(env, own...)
}
