package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
)

// segmentRoute is the path of a segment: job, task, attempt, partition.
const segmentRoute = "/v1/segment/{job}/{task}/{attempt}/{partition}"

// Handler serves the segments of the store. It does not check who asks, as the server admits only
// workers of this user (mutual TLS).
func (o *Store) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+segmentRoute, o.serve)
	return mux
}

// serve sends one segment. TCP slows it down if the receiver is slow.
func (o *Store) serve(w http.ResponseWriter, r *http.Request) {
	a := job.Attempt{Job: job.ID(r.PathValue("job"))}
	var partition int
	for name, n := range map[string]*int{"task": &a.Task, "attempt": &a.N, "partition": &partition} {
		var err error
		if *n, err = strconv.Atoi(r.PathValue(name)); err != nil {
			http.Error(w, name+" is not a number", http.StatusBadRequest)
			return
		}
	}
	s, err := o.Open(a, partition)
	if err != nil {
		status := http.StatusInternalServerError
		switch {
		case errors.Is(err, ErrNotHeld):
			status = http.StatusNotFound
		case errors.Is(err, extsort.ErrDamaged):
			status = http.StatusGone
		}
		http.Error(w, err.Error(), status)
		return
	}
	f, err := os.Open(s.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close() // only read
	w.Header().Set("Content-Type", "application/octet-stream")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, s.Offset, s.Length)) // the receiver knows from the length if bytes are missing
}

// pieceSize is how many bytes of a segment are processed at once. They fit into the cache of a core.
const pieceSize = 256 << 10

// fetch requests a partition of a map output from the node at loc. The body is not verified; the
// Collector verifies it while it reads.
func fetch(ctx context.Context, client *http.Client, loc Location, partition int) (Segment, error) {
	path := fmt.Sprintf("/v1/segment/%s/%d/%d/%d", url.PathEscape(string(loc.Attempt.Job)), loc.Attempt.Task, loc.Attempt.N, partition)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+loc.Addr+path, nil)
	if err != nil {
		return Segment{}, fmt.Errorf("fetch %v from %s: %w", loc.Attempt, loc.Addr, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return Segment{}, fmt.Errorf("fetch %v: %w", loc.Attempt, err)
	}
	if resp.StatusCode == http.StatusOK && resp.ContentLength >= 0 {
		return Segment{Length: resp.ContentLength, Body: resp.Body}, nil
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // only for the error message
	_ = resp.Body.Close()
	err = fmt.Errorf("fetch %v from %s: %s: %s", loc.Attempt, loc.Addr, resp.Status, said)
	switch resp.StatusCode {
	case http.StatusNotFound:
		err = fmt.Errorf("%w: %w", ErrNotHeld, err)
	case http.StatusGone:
		err = fmt.Errorf("%w: %w", extsort.ErrDamaged, err)
	}
	return Segment{}, err
}
