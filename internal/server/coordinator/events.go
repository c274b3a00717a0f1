package coordinator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
	"berth/internal/server/rundir"
)

// gatherRecords is how long the stream of a job's events gathers records at least, as each look at the journal opens it.
const gatherRecords = 5 * time.Millisecond

// moreOf returns the function that waits for further records of a job, from before the last look at its journal on.
func (s *Server) moreOf(l *live) func(context.Context) error {
	var next <-chan struct{}
	return func(ctx context.Context) error {
		if next != nil {
			select {
			case <-next:
			case <-s.stopped:
				return errStopped
			case <-ctx.Done():
				return ctx.Err()
			}
			time.Sleep(gatherRecords)
		}
		next = l.next()
		return nil
	}
}

// streamEvents streams what happens to a job and its tasks until the job is over, one line of JSON for each event.
func (s *Server) streamEvents(l *live, w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("from"), "0"), 10, 64)
	if err != nil {
		answer(w, nil, job.ArgumentError("from", "it is not the number of an event", ""))
		return
	}
	enc, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
	err = rundir.Events(r.Context(), l.run, from, func(e report.Event) error { return enc.Encode(e) }, func(bool) error { return flush() }, s.moreOf(l))
	if err != nil && !errors.Is(err, errStopped) && r.Context().Err() == nil {
		s.log.Warn("events of a job cannot be told", "job", l.run.ID, "err", err)
	}
}
