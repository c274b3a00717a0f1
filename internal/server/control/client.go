package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/server/leader"
	"berth/internal/server/report"
	"berth/internal/sys/private"
	"berth/internal/sys/statedir"
)

// ErrNoServer means that no coordinator answers.
var ErrNoServer = errors.New("no coordinator is running")

// ErrLost means that the connection to the coordinator broke during a call.
var ErrLost = errors.New("the connection to the coordinator was lost")

// Client sends requests to a coordinator.
type Client struct {
	http  *http.Client
	home  statedir.Home
	limit time.Duration // for an answer; 0: see patience
}

// NewClient returns a client for the coordinator of a state folder. It does not connect yet.
//
// If the coordinator runs on another machine that shares the folder, every call returns an error of class User that
// names that machine.
func NewClient(h statedir.Home) *Client {
	return &Client{home: h, http: &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			c, err := private.Dial(ctx, h.Socket())
			return c, unreachable(err)
		},
	}}}
}

// Hello returns the coordinator's description of itself.
func (c *Client) Hello(ctx context.Context) (Hello, error) {
	var h Hello
	err := c.call(ctx, "GET /v1/server", nil, &h)
	if err == nil && h.Version != Version {
		err = job.UserError("server", "the running coordinator is of another version of berth", "let its jobs end or stop it with: berth server stop")
	}
	return h, err
}

// Stop asks the coordinator to end. With force it ends even if jobs are not over; the next coordinator continues them.
func (c *Client) Stop(ctx context.Context, force bool) error {
	return c.call(ctx, fmt.Sprintf("POST /v1/server/stop?force=%t", force), nil, nil)
}

// Submit submits a run, with the environment of this process.
func (c *Client) Submit(ctx context.Context, req Submit) error {
	req.Env = os.Environ()
	return c.call(ctx, "POST /v1/jobs", req, nil)
}

// Job returns the job of an id, if the coordinator has it: a list of one job, or none.
func (c *Client) Job(ctx context.Context, id job.ID) ([]report.JobView, error) {
	var jobs Jobs
	err := c.call(ctx, "GET /v1/jobs?id="+url.QueryEscape(string(id)), nil, &jobs)
	return jobs.Jobs, err
}

// List returns what lists have of the jobs that the coordinator has, or of the one with an id if that is not empty.
func (c *Client) List(ctx context.Context, running bool, id job.ID) (l Listed, err error) {
	var read Listed // of an answer that was cut off a part
	if err = c.call(ctx, fmt.Sprintf("GET /v1/jobs?brief=true&running=%t&id=%s", running, url.QueryEscape(string(id))), nil, &read); err == nil {
		l = read
	}
	return l, err
}

// Held returns the user's allocations of batch systems (Engine.Held).
func (c *Client) Held(ctx context.Context) ([]job.Live, error) {
	var held Held
	err := c.call(ctx, "GET /v1/held", nil, &held)
	return held.Allocs, err
}

// Cancel cancels a job, or only these tasks of it.
func (c *Client) Cancel(ctx context.Context, id job.ID, reason string, tasks ...string) error {
	return c.call(ctx, "POST /v1/jobs/"+string(id)+"/cancel", Cancel{reason, tasks}, nil)
}

// Resume continues a job that is over, in the environment of this process.
func (c *Client) Resume(ctx context.Context, id job.ID, r Resume) error {
	r.Env = os.Environ()
	return c.call(ctx, "POST /v1/jobs/"+string(id)+"/resume", r, nil)
}

// Set changes options of a job that is not over, and returns what its user should know.
func (c *Client) Set(ctx context.Context, id job.ID, settings []string) ([]string, error) {
	var was WasSet
	err := c.call(ctx, "POST /v1/jobs/"+string(id)+"/set", Set{settings}, &was)
	return was.Notes, err
}

// Limits returns how much all jobs may use of what they share, after a change if one is given.
func (c *Client) Limits(ctx context.Context, change *SetLimits) ([]job.Limit, error) {
	var l Limits
	route, in := "GET /v1/limits", any(nil)
	if change != nil {
		route, in = "POST /v1/limits", change
	}
	err := c.call(ctx, route, in, &l)
	return l.Limits, err
}

// Add adds tasks to an open bag, and returns which they are.
func (c *Client) Add(ctx context.Context, id job.ID, a Add) (added Added, err error) {
	err = c.call(ctx, "POST /v1/jobs/"+string(id)+"/tasks", a, &added)
	return added, err
}

// CloseBag says that no more tasks are added to an open bag.
func (c *Client) CloseBag(ctx context.Context, id job.ID) error {
	return c.call(ctx, "POST /v1/jobs/"+string(id)+"/close", nil, nil)
}

// Forget removes the files of a job that is over from the state folder.
func (c *Client) Forget(ctx context.Context, id job.ID) error {
	return c.call(ctx, "POST /v1/jobs/"+string(id)+"/forget", nil, nil)
}

// Explain returns the reasons for the present state of a job.
func (c *Client) Explain(ctx context.Context, id job.ID) (e Explanation, err error) {
	err = c.call(ctx, "GET /v1/jobs/"+string(id)+"/explain", nil, &e)
	return e, err
}

// States returns a word for the state of each of some tasks of a job.
func (c *Client) States(ctx context.Context, id job.ID, tasks []string) ([]string, error) {
	var s States
	err := c.call(ctx, "GET /v1/jobs/"+string(id)+"/states?"+url.Values{"task": tasks}.Encode(), nil, &s)
	return s.States, err
}

// Running returns the attempts of a job that run.
func (c *Client) Running(ctx context.Context, id job.ID) ([]report.RunningAttempt, error) {
	var r Running
	err := c.call(ctx, "GET /v1/jobs/"+string(id)+"/running", nil, &r)
	return r.Attempts, err
}

// Printed returns a part of what the task of a running attempt has printed, from an offset on. It is empty at the end of
// what was printed so far, and if the attempt has ended.
func (c *Client) Printed(ctx context.Context, of job.Attempt, stderr bool, offset int64) ([]byte, error) {
	var p Printed
	err := c.call(ctx, fmt.Sprintf("GET /v1/jobs/%s/tasks/%d/attempts/%d/printed?stderr=%t&offset=%d", of.Job, of.Task, of.N, stderr, offset), nil, &p)
	return p.Data, err
}

// Watch calls see with the present state of the job, again after each change, and for the last time when the job is
// over. It returns ErrLost if the coordinator ends before that.
func (c *Client) Watch(ctx context.Context, id job.ID, see func(Watched)) error {
	route := "GET /v1/jobs/" + string(id) + "/watch"
	ctx, give := context.WithCancelCause(ctx)
	defer give(nil)
	timer := time.AfterFunc(c.patience(route), func() { give(errSilent) })
	resp, err := c.do(ctx, route, nil)
	timer.Stop()
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	for dec := json.NewDecoder(resp.Body); ; {
		var w Watched
		if err := dec.Decode(&w); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return ErrLost
		}
		if w.Error != nil {
			return w.Error
		}
		see(w)
		if w.Final {
			return nil
		}
	}
}

// call makes a request, whose route begins as in the coordinator's table of them.
func (c *Client) call(ctx context.Context, route string, in, out any) error {
	wait := c.patience(route)
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errSilent)
	defer cancel()
	resp, err := c.do(ctx, route, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return c.unreachable(ctx, err, wait)
	}
	return nil
}

func (c *Client) do(ctx context.Context, route string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	method, path, _ := strings.Cut(route, " ")
	req, err := http.NewRequestWithContext(ctx, method, "http://coordinator"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err, c.patience(route))
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	var e job.Error
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable: // the coordinator is ending
		return nil, ErrLost
	case json.NewDecoder(resp.Body).Decode(&e) != nil || e.What == "":
		return nil, fmt.Errorf("the coordinator answered %s", resp.Status)
	}
	return nil, &e
}

// unreachable returns the error for a coordinator that does not answer, and was waited for that long if it is silent.
func (c *Client) unreachable(ctx context.Context, err error, waited time.Duration) error {
	var known *job.Error
	switch {
	case context.Cause(ctx) == errSilent:
		return c.silent(waited)
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &known):
		return known
	case errors.Is(err, os.ErrNotExist), errors.Is(err, unix.ECONNREFUSED):
		return c.elsewhere()
	default:
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
}

// elsewhere returns ErrNoServer, or the error that names the other machine on which the coordinator runs. A stand-in on
// another machine does not count, because it yields to a coordinator here.
func (c *Client) elsewhere() error {
	err := leader.Of(c.home).Elsewhere()
	var there *leader.ElsewhereError
	if err == nil || errors.As(err, &there) && there.Owner.StandIn && !inBatchJob() {
		return ErrNoServer
	}
	return err
}
