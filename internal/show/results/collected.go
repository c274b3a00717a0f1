package results

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/server/report"
)

// mostNamed is the number of tasks that an error names.
const mostNamed = 20

// ended records how a task ended: only the attempt that ended the task counts.
func (p *Printer) ended(e report.End) {
	if e.Task < len(p.known) {
		k := &p.known[e.Task]
		k.attempt, k.done, k.over = int32(e.Attempt), e.Done, e.Over
	}
}

// attempted records the end of an attempt of a task that has not ended: it may have left what it printed.
func (p *Printer) attempted(of job.Attempt) {
	if of.Task < len(p.known) && !p.known[of.Task].over {
		p.known[of.Task].attempt = int32(of.N)
	}
}

// Unfinished returns the tasks of those that have not ended, as far as is known (Known).
func (p *Printer) Unfinished(tasks []int) (left []int) {
	for _, task := range tasks {
		if !p.known[task].over {
			left = append(left, task)
		}
	}
	return left
}

// Began reports whether an attempt of a task has ended, as far as is known (Known).
func (p *Printer) Began(task int) bool { return p.known[task].attempt > 0 }

// Name returns the name of a task for users.
func (p *Printer) Name(task int) string { return p.tasks.Name(p.spec, task) }

// collects reports whether the output of a task is collected with that of others.
func (p *Printer) collects(task int) bool {
	own, _, _ := p.tasks.Of(p.spec, task)
	return own.Bag.Collect
}

// there reports whether the output of a task that is over can be read now.
func (p *Printer) there(task int) bool {
	if !p.collects(task) {
		return true
	}
	for _, s := range []collect.Stream{collect.Stdout, collect.Stderr} {
		if _, err := p.collected.Open(task, int(p.known[task].attempt), s); err != nil {
			return false
		}
	}
	return true
}

// openCollected opens what a task printed to a stream. A task that has not ended has no output there, and one that is
// not done may have none: then it is that of the last attempt that has any.
func (p *Printer) openCollected(template string, s collect.Stream, task int) (io.ReadSeeker, string, error) {
	folder, k := p.spec.Bag.CollectFolder(p.id), p.known[task]
	if template == job.Discard {
		return nil, folder, nil
	}
	for n := int(k.attempt); n > 0; n-- {
		r, err := p.collected.Open(task, n, s)
		switch {
		case err == nil:
			return r, folder, nil
		case !errors.Is(err, collect.ErrNone):
			return nil, folder, readError(folder, fmt.Errorf("task %s: %w", p.Name(task), err))
		case k.done:
			p.lost, p.why = append(p.lost, task), err
			return nil, folder, nil
		}
	}
	return nil, folder, nil
}

// Missing returns the error that names the tasks that were to be printed and whose collected output is missing or
// damaged; nil if there are none.
func (p *Printer) Missing() error {
	if err := p.tasks.More.Err(); err != nil {
		return err
	}
	lost := slices.Compact(p.lost) // a task is here twice if both streams are
	if len(lost) == 0 {
		return nil
	}
	names := make([]string, 0, len(lost))
	for _, task := range lost[:min(len(lost), mostNamed)] {
		names = append(names, p.Name(task))
	}
	what := "the output of task " + names[0] + " cannot be read"
	if len(lost) > 1 {
		what = fmt.Sprintf("the output of %d tasks cannot be read: %s", len(lost), strings.Join(names, ", "))
	}
	if more := len(lost) - len(names); more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return job.IOError(job.User, p.spec.Bag.CollectFolder(p.id), what, p.why).Advice("the output of all other tasks is unharmed; submit these entries again as a new bag to get it")
}
