package queuelog

import (
	"fmt"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/mpack"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// version is that of the format.
const version = 1

// file is the format: columns of numbers, times in seconds.
type file struct {
	Version       int
	Since, Looked int64
	Ended         columns
	Arrived       columns
	Present       columns
	IDs, Arrays   []string // of Present
	Came          came
}

// came are the columns of the user's own last starts. Files of before they were kept have none.
type came struct{ Low, High, Wait []int64 }

// columns are the columns of jobs. At is the start of those that are present, 0 while they wait.
type columns struct {
	User, Nodes, Part, Copies []int32
	Limit, At, Run            []int64 // limit 0: none
	Own                       []bool
}

func (c *columns) add(j *starts.Job, at job.Time) {
	limit := int64(0)
	if j.Limit != timeline.Unbounded {
		limit = seconds(j.Limit)
	}
	c.User, c.Nodes = append(c.User, j.User), append(c.Nodes, j.Nodes)
	c.Limit, c.At = append(c.Limit, limit), append(c.At, seconds(time.Duration(at)))
}

// seconds rounds up, so that nothing above 0 becomes 0.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func (c *columns) job(i int) (j starts.Job, at job.Time) {
	j = starts.Job{User: c.User[i], Nodes: max(c.Nodes[i], 1), Limit: timeline.Unbounded}
	if c.Limit[i] > 0 {
		j.Limit = span(c.Limit[i])
	}
	return j, job.Time(span(c.At[i]))
}

// span returns so many seconds as a duration. A number that none is becomes 1 s or the longest.
func span(seconds int64) time.Duration {
	return time.Duration(max(0, min(seconds, int64(timeline.Unbounded/time.Second)-1))) * time.Second
}

func encode(h *starts.History) ([]byte, error) {
	f := file{Version: version, Since: seconds(time.Duration(h.Since)), Looked: seconds(time.Duration(h.Looked))}
	for i := range h.Ended {
		e := &h.Ended[i]
		f.Ended.add(&e.Job, e.At)
		f.Ended.Run = append(f.Ended.Run, seconds(e.Run))
	}
	for i := range h.Arrived {
		a := &h.Arrived[i]
		f.Arrived.add(&a.Job, a.At)
		f.Arrived.Part = append(f.Arrived.Part, a.Part)
	}
	p := &f.Present
	for i := range h.Present {
		x := &h.Present[i]
		p.add(&x.Job, x.Start)
		p.Part, p.Copies, p.Own = append(p.Part, x.Part), append(p.Copies, x.Copies), append(p.Own, x.Own)
		f.IDs, f.Arrays = append(f.IDs, x.ID), append(f.Arrays, x.Array)
	}
	for _, c := range h.Came {
		f.Came.Low, f.Came.High, f.Came.Wait = append(f.Came.Low, seconds(c.Band.Low)), append(f.Came.High, seconds(c.Band.High)), append(f.Came.Wait, seconds(c.Wait))
	}
	return mpack.Append(nil, f)
}

func decode(data []byte) (*starts.History, error) {
	var f file
	if err := mpack.Decode(data, &f); err != nil {
		return nil, err
	}
	if f.Version != version {
		return nil, fmt.Errorf("it has version %d, and this berth reads version %d", f.Version, version)
	}
	e, a, p := &f.Ended, &f.Arrived, &f.Present
	if !e.whole(len(e.Run)) || !a.whole(len(a.Part)) || !p.whole(len(p.Part), len(p.Copies), len(p.Own), len(f.IDs), len(f.Arrays)) || len(f.Came.Low) != len(f.Came.Wait) || len(f.Came.High) != len(f.Came.Wait) {
		return nil, fmt.Errorf("its columns differ in length")
	}
	h := &starts.History{Since: job.Time(span(f.Since)), Looked: job.Time(span(f.Looked))}
	for i := range e.User {
		j, at := e.job(i)
		h.Ended = append(h.Ended, starts.Ended{Job: j, At: at, Run: max(span(e.Run[i]), time.Second)})
	}
	for i := range a.User {
		j, at := a.job(i)
		h.Arrived = append(h.Arrived, starts.Arrived{Job: j, At: at, Part: a.Part[i]})
	}
	for i := range p.User {
		j, at := p.job(i)
		h.Present = append(h.Present, starts.Seen{ID: f.IDs[i], Array: f.Arrays[i], Job: j, Part: p.Part[i], Start: at, Copies: p.Copies[i], Own: p.Own[i]})
	}
	for i, wait := range f.Came.Wait {
		h.Start(starts.Came{Band: starts.Band{Low: span(f.Came.Low[i]), High: span(f.Came.High[i])}, Wait: span(wait)})
	}
	return h, nil
}

// whole reports whether the columns of all jobs, and others of these lengths, are equally long.
func (c *columns) whole(others ...int) bool {
	for _, n := range append(others, len(c.Nodes), len(c.Limit), len(c.At)) {
		if n != len(c.User) {
			return false
		}
	}
	return true
}
