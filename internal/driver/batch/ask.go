package batch

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"berth/internal/core/job"
)

// Output runs a command in the environment of Tools and returns what it prints.
func (t *Tools) Output(ctx context.Context, words ...string) (string, error) {
	out, _, err := t.Run(ctx, Call{Name: words[0], Args: words[1:], Env: t.Env})
	return out, err
}

// Groups returns the groups of the user, the first one first, as the system prints them; none if it does not.
func (t *Tools) Groups(ctx context.Context) []string {
	out, _ := t.Output(ctx, "id", "-Gn", UserName(t.User))
	return strings.Fields(out)
}

// Lacks returns the error for the first needed command that is not there, or nil.
func (t *Tools) Lacks() error {
	for _, name := range t.Needed {
		if t.find(name) == "" {
			return t.Missing(name)
		}
	}
	return nil
}

// Installed reports whether the batch system's commands are installed.
func (t *Tools) Installed() bool { return t.Lacks() == nil }

// Detect reports whether this machine belongs to a cluster: the commands are installed, or a variable or a file names it. Available checks
// whether it can be used.
func (t *Tools) Detect() bool {
	if t.Installed() || job.Getenv(t.User, t.Variable) != "" {
		return true
	}
	_, err := os.Stat(t.Config)
	return err == nil
}

// JobID returns the job's id in the output of the submitting command: in its last line that has one, as a site's plugins may print others.
func (t *Tools) JobID(out string) (id string) {
	for line := range strings.Lines(out) {
		if found := t.ID().FindStringSubmatch(strings.TrimSpace(line)); found != nil {
			id = found[1]
		}
	}
	return id
}

// callers bounds the number of calls at the same time.
const callers = 8

// Each runs commands at the same time, as each one needs a round trip. Blanks separate their words. It returns what they print, and the error of each.
func (t *Tools) Each(ctx context.Context, commands ...string) (said []string, errs []error) {
	said, errs = make([]string, len(commands)), make([]error, len(commands))
	var all errgroup.Group
	all.SetLimit(callers)
	for i, command := range commands {
		all.Go(func() error {
			said[i], errs[i] = t.Output(ctx, strings.Fields(command)...)
			return nil
		})
	}
	_ = all.Wait() // errs has them
	return said, errs
}

// Kept is a value that is read once in a while, such as a configuration.
type Kept[T any] struct {
	mu    sync.Mutex
	value *T
	at    time.Time
}

// Get returns the value. It reads it if that was not done yet, or not since so long.
func (k *Kept[T]) Get(lives time.Duration, read func() (T, error)) (T, error) {
	k.mu.Lock()
	known, at := k.value, k.at
	k.mu.Unlock()
	if known != nil && time.Since(at) < lives {
		return *known, nil
	}
	value, err := read()
	if err == nil {
		k.mu.Lock()
		k.value, k.at = &value, time.Now()
		k.mu.Unlock()
	}
	return value, err
}
