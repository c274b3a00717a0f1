package results

import (
	"errors"
	"fmt"
	"io"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/server/report"
)

// ended notes how a task came to its end: of its attempts only the one that brought it there counts.
func (p *Printer) ended(e report.End) {
	if p.collected != nil && e.Task < len(p.ends) {
		p.ends[e.Task] = e
	}
}

// there reports whether the output of a task that is over can be read.
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

// copyCollected copies what a task printed to a stream. A task that is not over has nothing there, and one that failed may have died before it printed.
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
	case err != nil:
		return readError(folder, fmt.Errorf("task %s: %w", p.bag.TaskID(p.entries[task], task), err))
	}
	return p.passOn(to, r, task, folder)
}
