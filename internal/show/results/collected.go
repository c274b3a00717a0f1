package results

import (
	"errors"
	"fmt"
	"io"

	"berth/internal/core/job"
	"berth/internal/node/collect"
	"berth/internal/server/report"
)

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
	case err != nil:
		return readError(folder, fmt.Errorf("task %s: %w", p.bag.TaskID(p.entries[task], task), err))
	}
	return p.passOn(to, r, task, folder)
}
