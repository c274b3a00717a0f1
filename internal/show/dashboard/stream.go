package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// maxStreams is the largest number of open streams.
const maxStreams = 32

// stillThere is the interval at which an idle stream sends something, to detect that the page is gone.
const stillThere = 15 * time.Second

// whole answers with the present document, once its journal is read to the end.
func (s *Server) whole(w http.ResponseWriter, r *http.Request) {
	doc, again, err := s.documents.make(r.Context(), r.URL.Query())
	for again == everyPart && err == nil && r.Context().Err() == nil {
		doc, again, err = s.documents.make(r.Context(), r.URL.Query())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(orProblem(doc, err)) // the page may have been closed
}

// orProblem returns the document, or in its place one that reports the error.
func orProblem(doc any, err error) any {
	if err != nil {
		return map[string]string{"problem": err.Error()}
	}
	return doc
}

// stream sends a document and then its changes as server-sent events, until the page is closed.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, "too many pages are open", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := events{w: w, flush: http.NewResponseController(w).Flush}
	for {
		doc, again, err := s.documents.make(r.Context(), r.URL.Query())
		if out.send(orProblem(doc, err)) != nil {
			return
		}
		select {
		case <-time.After(again):
		case <-r.Context().Done():
			return
		}
	}
}

// events writes the events of a stream.
type events struct {
	w     http.ResponseWriter
	flush func() error
	told  any // the document that the page has; nil: none
	at    time.Time
}

// send sends the whole document the first time, and its differences later.
func (e *events) send(doc any) error {
	next, err := tree(doc)
	if err != nil {
		return err
	}
	kind, data := "whole", next
	if e.told != nil {
		changes := diff(e.told, next)
		if len(changes) == 0 {
			return e.idle()
		}
		kind, data = "changes", changes
	}
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(e.w, "event: %s\ndata: %s\n\n", kind, b); err != nil {
		return err
	}
	e.told, e.at = next, time.Now()
	return e.flush()
}

// idle keeps the connection open, and returns an error if it is closed.
func (e *events) idle() error {
	if time.Since(e.at) < stillThere {
		return nil
	}
	e.at = time.Now()
	if _, err := fmt.Fprint(e.w, ": nothing new\n\n"); err != nil {
		return err
	}
	return e.flush()
}
