package dashboard

import (
	"net/http"
	"net/url"
	"strconv"

	"berth/internal/core/job"
)

// printed answers with a part of what a running task has printed, from an offset on. It is empty at the end of what was
// printed so far, once the attempt has ended, and if it cannot be read; the header Problem then says why. What tasks print
// is never taken for HTML.
func (s *Server) printed(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	id, errID := job.ParseID("id", q.Get("id"))
	task, errTask := strconv.Atoi(q.Get("task"))
	n, errN := strconv.Atoi(q.Get("attempt"))
	offset, errOffset := strconv.ParseInt(q.Get("offset"), 10, 64)
	if errID != nil || errTask != nil || errN != nil || errOffset != nil || task < 0 || n < 1 || offset < 0 {
		http.Error(w, "this names no attempt", http.StatusBadRequest)
		return
	}
	b, err := s.documents.Printed(r.Context(), job.Attempt{Job: id, Task: task, N: n}, q.Get("stderr") == "true", offset)
	if err != nil { // the job may just have ended, or its coordinator
		w.Header().Set("Problem", url.PathEscape(err.Error()))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(b) // the page may have been closed
}
