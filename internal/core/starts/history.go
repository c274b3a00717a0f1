package starts

import (
	"time"

	"berth/internal/core/job"
)

const (
	// Kept is how long what was seen of a job is kept. Seven days are as good as all of a log.
	Kept = 7 * 24 * time.Hour
	// mostKept bounds the ended jobs, and the arrivals, that are kept, in about 3 MB.
	mostKept = 50_000
)

// Ended is a job that has ended.
type Ended struct {
	Job
	At  job.Time
	Run time.Duration
}

// Arrived is a job that has arrived, whether it has ended or not.
type Arrived struct {
	Job
	At   job.Time
	Part int32 // number of its partition; 0: unknown
}

// History is what was seen of the jobs of a queue in the last days, in the order of time. Ends of the user's own jobs count, as
// they say how long the others of this user will run. Arrivals of these do not: berth decides on them.
type History struct {
	Ended   []Ended
	Arrived []Arrived
	Came    []Came   // the user's own last starts, whenever they were
	Since   job.Time // from when on all arrivals are known
	Present []Seen   // at the last look
	Looked  job.Time // when that was; 0: never
}

// Start adds a start of the user's own, beside its band as the draws gave it.
func (h *History) Start(c Came) {
	h.Came = append(h.Came, c)
	h.Came = h.Came[max(0, len(h.Came)-lastCame):]
}

// Trim drops what is too old, and the oldest of too much.
func (h *History) Trim(now job.Time) {
	from := now.Add(-Kept)
	ended, arrived := max(0, len(h.Ended)-mostKept), max(0, len(h.Arrived)-mostKept)
	if arrived > 0 {
		from = max(from, h.Arrived[arrived-1].At+1)
	}
	for ended < len(h.Ended) && h.Ended[ended].At < from {
		ended++
	}
	for arrived < len(h.Arrived) && h.Arrived[arrived].At < from {
		arrived++
	}
	h.Ended, h.Arrived, h.Since = h.Ended[ended:], h.Arrived[arrived:], max(h.Since, from)
}
