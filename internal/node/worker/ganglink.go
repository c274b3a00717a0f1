package worker

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// Between the workers of a gang there are these requests, below the path of its attempt (gangPath):
//
//   - POST, from the first node to each other one, with its message to start the attempt: the answer begins when the node has the share. It has
//     the batch system's name of the node as soon as the share is ready, which files that are fetched may delay, and a report once it is over.
//     The share ends with the connection, and then at once: the first node may be dead, and the task start again soon.
//   - DELETE: the share is to end.
//   - POST run: from any node to any other one: the connection becomes one of package gang.

// joinPatience is how long a node waits for the coordinator's word that it has a share. The first node is told at the same time.
const joinPatience = 20 * time.Second

// hold is the connection of a gang's first node to a share here.
type hold struct {
	start *wire.Start
	dir   string     // the folder in which the command of the bag runs
	taken chan *part // receives the share that is ready
}

// gangHandler serves the other workers of gangs.
func (w *worker) gangHandler() http.Handler {
	const at = shuffle.GangRoute + "{job}/{task}/{attempt}"
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+at, w.serveHold)
	mux.HandleFunc("DELETE "+at, func(_ http.ResponseWriter, r *http.Request) { w.endGang(attemptOf(r), false) })
	mux.HandleFunc("POST "+at+"/run", w.serveRun)
	return mux
}

// attemptOf returns the attempt of which a request speaks.
func attemptOf(r *http.Request) job.Attempt {
	task, _ := strconv.Atoi(r.PathValue("task")) // nothing has the attempt 0
	n, _ := strconv.Atoi(r.PathValue("attempt"))
	return job.Attempt{Job: job.ID(r.PathValue("job")), Task: task, N: n}
}

// serveHold serves the first node of a gang with a share here.
func (w *worker) serveHold(rw http.ResponseWriter, r *http.Request) {
	start, err := readStart(r.Body)
	a := w.awaitShare(r.Context(), attemptOf(r))
	if err != nil || a == nil || start.Attempt != a.id {
		http.Error(rw, fmt.Sprintf("it has no share of %v", attemptOf(r)), http.StatusNotFound)
		return
	}
	defer context.AfterFunc(r.Context(), func() { w.endGang(a.id, true) })()
	answer := json.NewEncoder(rw)
	flush := http.NewResponseController(rw).Flush // if the connection is lost, so is the context
	_ = flush()
	h := &hold{start: start, dir: r.URL.Query().Get("dir"), taken: make(chan *part, 1)}
	var p *part
	select {
	case a.part.held <- h:
		select {
		case p = <-h.taken:
		case <-a.ctx.Done():
		}
	case <-a.ctx.Done():
	}
	if p == nil {
		return
	}
	_ = answer.Encode(w.cfg.Variables.NodeName())
	_ = flush()
	<-p.over
	_ = answer.Encode(p.report)
}

// awaitShare returns the attempt of a share once the coordinator has told of it, or nil.
func (w *worker) awaitShare(ctx context.Context, at job.Attempt) *attempt {
	w.mu.Lock()
	a := w.attempts[at]
	told := w.awaited[at]
	if a == nil && told == nil {
		told = make(chan struct{})
		w.awaited[at] = told
	}
	w.mu.Unlock()
	if a == nil {
		select {
		case <-told:
		case <-ctx.Done():
		case <-time.After(joinPatience):
		}
		w.mu.Lock()
		delete(w.awaited, at)
		a = w.attempts[at]
		w.mu.Unlock()
	}
	if a == nil || !a.isShare() {
		return nil
	}
	return a
}

// serveRun serves a worker that starts programs of a gang here.
func (w *worker) serveRun(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	var p *part
	if a := w.attempts[attemptOf(r)]; a != nil && a.part != nil {
		p = w.parts[a.part.secret] // it is open
	}
	w.mu.Unlock()
	if p == nil {
		http.Error(rw, fmt.Sprintf("it has no share of %v", attemptOf(r)), http.StatusNotFound)
		return
	}
	conn, err := shuffle.Upgraded(rw)
	if err != nil {
		w.log.Warn("a program of a gang is not started", "err", err)
		return
	}
	p.answer(conn)
}

// holding is a share of a gang on another node, as the gang's first node sees it.
type holding struct {
	node     job.NodeID
	name     string        // the batch system's name of the node; empty: it has none
	answered chan struct{} // closed when the share is ready, or failure is set
	over     chan struct{} // closed when it is over, and report or failure is set
	dismiss  func()        // ends it
	hangUp   func()        // closes the connection
	report
	failure *process.Failure // why it ended without the first node
}

// holdShare makes the share of another node ready, and keeps it until it is dismissed.
func (w *worker) holdShare(p *part, s step.Share) *holding {
	h := &holding{node: s.Node, answered: make(chan struct{}), over: make(chan struct{})}
	path := gangPath(p.a.id)
	var ctx context.Context
	ctx, h.hangUp = context.WithCancel(context.Background())
	h.dismiss = sync.OnceFunc(func() {
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), disbandPatience)
			defer cancel()
			if resp, err := w.shuffle.Request(ctx, http.MethodDelete, s.Addr, path, nil); err == nil {
				_ = resp.Body.Close()
			}
		}()
	})
	answered := sync.OnceFunc(func() { close(h.answered) })
	go func() {
		defer answered()
		defer close(h.over)
		switch err := w.keepShare(ctx, p, h, path, s.Addr, answered); {
		case ctx.Err() != nil: // it was hung up
		case err != nil:
			h.failure = &process.Failure{Outcome: event.Lost, Reason: fmt.Sprintf("node %s of the task was lost: %s", s.Host, process.OneLine(err.Error()))}
		case h.report.Failure != nil:
			h.failure = h.report.Failure
			h.failure.Reason = "on node " + s.Host + ": " + h.failure.Reason
		}
	}()
	return h
}

// keepShare speaks with the worker of a share until the share is over.
func (w *worker) keepShare(ctx context.Context, p *part, h *holding, path, addr string, answered func()) error {
	start, err := wire.AppendFrame(nil, p.a.start)
	if err != nil {
		return err
	}
	resp, err := w.shuffle.Request(ctx, http.MethodPost, addr, path+"?dir="+url.QueryEscape(p.cwd), bytes.NewReader(start))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 200)) // only for the error message
		return fmt.Errorf("its worker says: %s", bytes.TrimSpace(said))
	}
	answer := json.NewDecoder(resp.Body)
	if err = answer.Decode(&h.name); err == nil {
		answered()
		err = answer.Decode(&h.report)
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("its share had ended")
	}
	return err
}

// readStart reads a message that starts an attempt.
func readStart(r io.Reader) (*wire.Start, error) {
	frame, err := io.ReadAll(io.LimitReader(r, wire.MaxMessage))
	if err != nil {
		return nil, err
	}
	const header = 5
	if len(frame) < header || int(binary.BigEndian.Uint32(frame)) != len(frame)-header {
		return nil, io.ErrUnexpectedEOF
	}
	m, err := wire.Decode(frame[header-1], frame[header:])
	if err != nil {
		return nil, err
	}
	start, ok := m.(*wire.Start)
	if !ok {
		return nil, fmt.Errorf("got %T instead of the start of an attempt", m)
	}
	return start, nil
}
