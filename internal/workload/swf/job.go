package swf

import (
	"math"
	"strconv"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// UnknownTime is a time that is not known; other fields are -1 then.
const UnknownTime = -time.Second

// Job is a line of a log.
type Job struct {
	Number    int64
	Submit    job.Time      // since the beginning of the log, at least 0
	Wait      time.Duration // from Submit to the start
	Run       time.Duration
	CPU       time.Duration // mean of the processors
	Request   time.Duration // wall time that was asked for
	Think     time.Duration // between the end of After and Submit
	Mem       int64         // used, kB a processor
	ReqMem    int64         // asked for, kB a processor
	User      int64
	Group     int64
	App       int64 // number of the executable
	Queue     int64
	Partition int64
	After     int64 // number of the job that this one waited for
	Procs     int32 // allocated processors
	ReqProcs  int32 // that were asked for
	Status    int32
	Line      int32 // where it stands in its file, from 1; not written
}

// Log is a log as read. Comments amid the jobs stand in the header as well.
type Log struct {
	Name   string // of its file, for messages
	Header Header
	Jobs   []Job
	// Skipped are the lines that were left out because they make no sense, in the order
	// in which that was found.
	Skipped []workload.Odd
	// Filtered is how many jobs a filter left out.
	Filtered int
}

// Header is the comment lines of a log, with their semicolons and in their order.
type Header []string

// Get returns the value of the first line "; Key: value" with that key, in any case.
func (h Header) Get(key string) (string, bool) {
	for _, line := range h {
		k, v, ok := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// Procs returns how many processors the cluster has: MaxProcs, else MaxNodes; 0 where the
// header does not tell.
func (h Header) Procs() int {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		v, _ := h.Get(key)
		// Some logs explain behind the number.
		if f := strings.Fields(v); len(f) > 0 {
			if n, err := strconv.Atoi(f[0]); err == nil && n > 0 && n <= math.MaxInt32 {
				return n
			}
		}
	}
	return 0
}
