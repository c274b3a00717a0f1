package rundir

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"berth/internal/server/journal"
	"berth/internal/server/report"
	"berth/internal/sys/statedir"
)

// lookEvery is how often a journal is looked at for further events.
const lookEvery = 50 * time.Millisecond

// Events calls each for the events of a run from that number on, as they happen, until the run is over. pause is called
// when all that have happened are told, with whether a coordinator has begun the run and it is not over; its error ends the call.
func Events(ctx context.Context, r statedir.Run, from int64, each func(report.Event) error, pause func(goesOn bool) error) error {
	d, err := Open(r)
	if err != nil {
		return err
	}
	events := report.NewEvents(Info(r, d), func(e report.Event) error {
		if e.Seq < from {
			return nil
		}
		return each(e)
	})
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for at := int64(0); ; {
		at, err = journal.Since(r.Journal(), at, events.Apply)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // the run has not begun
			return err
		}
		over := events.Job.State().Final()
		if err := pause(at > 0 && !over); err != nil {
			return err
		}
		if over {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
