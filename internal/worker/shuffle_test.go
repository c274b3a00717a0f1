package worker

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/internal/mapreduce"
)

// A holder that stops sending in the middle of a segment is given up.
func TestFetchFromAStalledHolder(t *testing.T) {
	over := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		_, _ = io.WriteString(w, "half ")
		_ = http.NewResponseController(w).Flush()
		<-over
	}))
	defer server.Close()
	defer close(over)
	s := &shuffle{client: server.Client(), stall: 50 * time.Millisecond}
	loc := mapreduce.Location{Map: try("mr-1", 0, 1), Holder: "a1/1", Addr: server.Listener.Addr().String()}
	seg, err := s.fetch(t.Context(), loc, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(seg.Body)
	if string(got) != "half " || err == nil || !strings.Contains(err.Error(), "sent nothing") {
		t.Errorf("got %q, %v", got, err)
	}
	if err := seg.Body.Close(); err != nil {
		t.Error(err)
	}
}
