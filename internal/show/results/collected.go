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
	if p.collected != nil && e.Task < len(p.ends) {
		p.ends[e.Task] = e
	}
}

// there reports whether the output of a task that is over can be read now.
func (p *Printer) there(task int) bool {
	if p.collected == nil {
		return true
	}
	for _, s := range []collect.Stream{collect.Stdout, collect.Stderr} {
		if _, err := p.collected.Open(task, p.ends[task].Attempt, s); err != nil {
			return false
		}
	}
	return true
}

// copyCollected copies what a task printed to a stream. A task that is not over has no output there, and a failed one
// may have none.
func (p *Printer) copyCollected(to io.Writer, template string, s collect.Stream, task int) error {
	end := p.ends[task]
	if to == nil || template == job.Discard || end.Attempt == 0 {
		return nil
	}
	folder := p.bag.CollectFolder(p.id)
	r, err := p.collected.Open(task, end.Attempt, s)
	switch {
	case errors.Is(err, collect.ErrNone) && !end.Done:
		return nil
	case errors.Is(err, collect.ErrNone):
		p.lost, p.why = append(p.lost, task), err
		return nil
	case err != nil:
		return readError(folder, err)
	}
	return p.passOn(to, r, task, folder)
}

// Missing returns the error that names the tasks that were to be printed and whose collected output is missing or
// damaged; nil if there are none.
func (p *Printer) Missing() error {
	lost := slices.Compact(p.lost) // a task is here twice if both streams are
	if len(lost) == 0 {
		return nil
	}
	names := make([]string, 0, len(lost))
	for _, task := range lost[:min(len(lost), mostNamed)] {
		names = append(names, p.bag.TaskID(p.entries[task], task))
	}
	what := "the output of task " + names[0] + " cannot be read"
	if len(lost) > 1 {
		what = fmt.Sprintf("the output of %d tasks cannot be read: %s", len(lost), strings.Join(names, ", "))
	}
	if more := len(lost) - len(names); more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return &job.Error{Class: job.User, Code: job.CodeIO, Where: p.bag.CollectFolder(p.id), What: what, Err: p.why,
		Do: "the output of all other tasks is unharmed; submit these entries again as a new bag to get it"}
}
