package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"berth/internal/core/job"
)

// TestPrinted: what a task prints is text for a browser, whatever it is.
func TestPrinted(t *testing.T) {
	s := New(Source{Printed: func(_ context.Context, of job.Attempt, stderr bool, offset int64) ([]byte, error) {
		if of != (job.Attempt{Job: "bag-3", Task: 4, N: 2}) || !stderr {
			return nil, errors.New("the task's node does not answer")
		}
		return []byte("<script>alert(1)</script>")[offset:], nil
	}})
	for query, want := range map[string]struct {
		code int
		body string
	}{
		"id=bag-3&task=4&attempt=2&stderr=true&offset=8":  {http.StatusOK, "alert(1)</script>"},
		"id=bag-3&task=4&attempt=1&stderr=true&offset=0":  {http.StatusOK, ""},
		"id=bag-3&task=-1&attempt=1&stderr=true&offset=0": {http.StatusBadRequest, "this names no attempt\n"},
		"id=../x&task=1&attempt=1&stderr=true&offset=0":   {http.StatusBadRequest, "this names no attempt\n"},
	} {
		w := httptest.NewRecorder()
		s.printed(w, httptest.NewRequest(http.MethodGet, "/printed?"+query, nil))
		if w.Code != want.code || w.Body.String() != want.body || w.Header().Get("Content-Type") != "text/plain; charset=utf-8" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %q %v", query, w.Code, w.Body, w.Header())
		}
		if problem := w.Header().Get("Problem"); (problem == "the%20task%27s%20node%20does%20not%20answer") != (want.code == http.StatusOK && want.body == "") {
			t.Errorf("%s: the problem is %q", query, problem)
		}
	}
}
