package batch

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver"
)

// patience is how long a test waits for an event.
const patience = 5 * time.Minute

func now() job.Time { return job.Time(time.Now().UnixNano()) }

// nobody is a batch system without commands.
type nobody struct{ System }

func (nobody) Words() driver.BatchWords {
	return driver.BatchWords{BatchSystem: parse.BatchSystem{Name: "some"}, System: "Some", Controller: "the controller", Ask: "ask"}
}
func (nobody) JobID(out string) string                      { return out }
func (nobody) Find(context.Context, string) (string, error) { return "", nil }
func (nobody) Submit(context.Context, Submission, *os.File) (string, error) {
	return "", &job.Error{Class: job.User, What: "the command is not on PATH"}
}

// aSite returns a site of nobody.
func aSite(o Options) *site {
	o.System = func([]string) System { return nobody{} }
	o.Log, o.Poll, o.RetryFirst, o.RetryMax = slog.New(slog.DiscardHandler), cmp.Or(o.Poll, 5*time.Second), time.Second, 5*time.Minute
	if o.Wall == nil {
		o.Wall = o.Now
	}
	return newSite(o, "", nil)
}
