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
	enc, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
	over, _ := l.ends()
	var told report.JobView
	for {
		final := closed(over)
		if v := l.view(s.now()); final || !reflect.DeepEqual(v, told) {
			told = v
			if enc.Encode(control.Watched{View: v, Final: final}) != nil || flush() != nil || final {
				return // it is over, or nobody listens any more
			}
		}
		select {
		case <-tick.C:
		case <-over:
		case <-r.Context().Done():
			return
		case <-s.stopped:
			if s.failure != nil {
				_ = enc.Encode(control.Watched{View: told, Error: control.Failure(s.failure)}) // the command may be gone, too
			}
			return
		}
	}
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
