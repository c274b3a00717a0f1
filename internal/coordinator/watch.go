package coordinator

import (
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"berth/internal/control"
	"berth/internal/job"
	"berth/internal/report"
)

// watchEvery is how often one who watches a job is told how it is.
const watchEvery = 150 * time.Millisecond

// watchJob streams the job, a line of JSON whenever it changed, until it is over.
func (s *Server) watchJob(w http.ResponseWriter, r *http.Request) {
	id := job.ID(r.PathValue("id"))
	l := s.lookup(id)
	if l == nil {
		answer(w, nil, s.notHere(id))
		return
	}
	s.watchers.Add(1)
	defer s.watchers.Add(-1)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	watch := watch{enc: json.NewEncoder(w), flush: http.NewResponseController(w).Flush}
	over, _ := l.ends()
	for {
		final := closed(over)
		if watch.tell(l.view(s.now()), final) != nil || final {
			return // it is over, or nobody listens any more
		}
		select {
		case <-tick.C:
		case <-over:
		case <-r.Context().Done():
			return
		case <-s.stopped:
			if s.failure != nil {
				watch.fail(s.failure)
			}
			return
		}
	}
}

// watch is one who watches a job.
type watch struct {
	enc   *json.Encoder
	flush func() error
	last  report.JobView // that was told
}

// tell tells how the job is, unless that is known. What is final is told in any case.
func (w *watch) tell(v report.JobView, final bool) error {
	if !final && reflect.DeepEqual(v, w.last) {
		return nil
	}
	w.last = v
	if err := w.enc.Encode(control.Watched{View: v, Final: final}); err != nil {
		return err
	}
	return w.flush()
}

// fail tells why the coordinator cannot go on.
func (w *watch) fail(err error) {
	_ = w.enc.Encode(control.Watched{View: w.last, Error: control.Failure(err)}) // the command may be gone, too
}

// closed reports whether a channel is, on which nothing is sent.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
