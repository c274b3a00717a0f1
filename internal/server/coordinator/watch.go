package coordinator

import (
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	"berth/internal/server/control"
	"berth/internal/server/report"
)

// watchEvery is the shortest time between two views of a job that a command gets.
const watchEvery = 150 * time.Millisecond

// watchJob streams the views of a job until it is over, one line of JSON for each change.
func (s *Server) watchJob(l *live, w http.ResponseWriter, r *http.Request) {
	tick := time.Tick(watchEvery)
	enc, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
	over, _ := l.ends()
	var told report.JobView
	for {
		final := closed(over)
		if v := s.view(l); final || !reflect.DeepEqual(v, told) {
			told = v
			if enc.Encode(control.Watched{View: v, Final: final, Full: s.full.Load()}) != nil || flush() != nil || final {
				return // the job is over, or the command is gone
			}
		}
		select {
		case <-tick:
		case <-over:
		case <-r.Context().Done():
			return
		case <-s.stopped:
			if s.failure != nil {
				_ = enc.Encode(control.Watched{View: told, Error: control.Failure(s.failure)}) // the command may be gone as well
			}
			return
		}
	}
}

// closed reports whether c is closed. c carries no values.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
