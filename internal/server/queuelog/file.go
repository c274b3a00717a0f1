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

// codec writes what jobs have to columns, or reads it from there: which column has what is said once for both.
type codec struct {
	reading bool
	i, rows int  // the row, of so many
	torn    bool // columns that are read differ in length
}

// each calls cells for each of the jobs in a list, or for each that the columns have, which it adds to the list.
func each[T any](c *codec, list *[]T, rows int, cells func(*T)) {
	if c.rows = rows; !c.reading {
		c.rows = len(*list)
	}
	c.i = 0
	if c.reading && c.rows == 0 { // the other columns must be empty, too
		cells(new(T))
	}
	for ; c.i < c.rows && !c.torn; c.i++ {
		var x T
		if !c.reading {
			x = (*list)[c.i]
		}
		if cells(&x); c.reading {
			*list = append(*list, x)
		}
	}
}

// cell writes or reads a value of the present row.
func cell[T any](c *codec, column *[]T, x *T) {
	switch {
	case !c.reading:
		*column = append(*column, *x)
	case len(*column) != c.rows:
		c.torn = true
	case c.i < c.rows:
		*x = (*column)[c.i]
	}
}

// timed does the same for a time.
func timed[T ~int64](c *codec, column *[]int64, x *T) {
	s := seconds(time.Duration(*x))
	if cell(c, column, &s); c.reading {
		*x = T(span(s))
	}
}

// seconds rounds up, so that nothing above 0 becomes 0.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// span returns so many seconds as a duration. A number that none is becomes 1 s or the longest.
func span(seconds int64) time.Duration {
	return time.Duration(max(0, min(seconds, int64(timeline.Unbounded/time.Second)-1))) * time.Second
}

// job writes or reads what all jobs have.
func (c *codec) job(to *columns, j *starts.Job, at *job.Time) {
	cell(c, &to.User, &j.User)
	cell(c, &to.Nodes, &j.Nodes)
	if j.Limit == timeline.Unbounded {
		j.Limit = 0
	}
	timed(c, &to.Limit, &j.Limit)
	if j.Limit == 0 {
		j.Limit = timeline.Unbounded
	}
	timed(c, &to.At, at)
	j.Nodes = max(j.Nodes, 1)
}

// history writes or reads a history.
func (c *codec) history(f *file, h *starts.History) {
	each(c, &h.Ended, len(f.Ended.User), func(e *starts.Ended) {
		c.job(&f.Ended, &e.Job, &e.At)
		timed(c, &f.Ended.Run, &e.Run)
		e.Run = max(e.Run, time.Second)
	})
	each(c, &h.Arrived, len(f.Arrived.User), func(a *starts.Arrived) {
		c.job(&f.Arrived, &a.Job, &a.At)
		cell(c, &f.Arrived.Part, &a.Part)
	})
	each(c, &h.Present, len(f.Present.User), func(x *starts.Seen) {
		c.job(&f.Present, &x.Job, &x.Start)
		cell(c, &f.Present.Part, &x.Part)
		cell(c, &f.Present.Copies, &x.Copies)
		cell(c, &f.Present.Own, &x.Own)
		cell(c, &f.IDs, &x.ID)
		cell(c, &f.Arrays, &x.Array)
	})
	each(c, &h.Came, len(f.Came.Wait), func(x *starts.Came) {
		timed(c, &f.Came.Low, &x.Band.Low)
		timed(c, &f.Came.High, &x.Band.High)
		timed(c, &f.Came.Wait, &x.Wait)
	})
}

func encode(h *starts.History) ([]byte, error) {
	f := file{Version: version, Since: seconds(time.Duration(h.Since)), Looked: seconds(time.Duration(h.Looked))}
	new(codec).history(&f, h)
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
	c, h := codec{reading: true}, &starts.History{Since: job.Time(span(f.Since)), Looked: job.Time(span(f.Looked))}
	if c.history(&f, h); c.torn {
		return nil, fmt.Errorf("its columns differ in length")
	}
	return h, nil
}
