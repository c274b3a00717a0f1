package slurm

import (
	"math"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/batch"
)

// Parsers of single values, in the formats of squeue(1) and scontrol(1).

// given returns a value, "" if it is one of Slurm's texts for a missing one.
func given(s string) string {
	switch s {
	case "(null)", "N/A", "n/a", "NONE", "None", "NOT_SET", "Unknown", "INVALID":
		return ""
	}
	return s
}

// parseTime reads a time in seconds since the epoch, as Slurm prints it with SLURM_TIME_FORMAT=%s.
// It returns 0 if there is none.
func parseTime(s string) job.Time {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/int64(time.Second) {
		return 0
	}
	return job.Time(n * int64(time.Second))
}

// parseLimit reads a wall time: [D-]HH:MM:SS, MM:SS, or a word, as "UNLIMITED", which is 0.
func parseLimit(s string) time.Duration {
	if !strings.Contains(s, ":") {
		return 0
	}
	return batch.Span(s)
}

// digits reads a number of at most twelve digits, which is enough for all counts here.
func digits(s string) (int64, bool) {
	if s == "" || len(s) > 12 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// parseCount reads a number of nodes or CPUs. Slurm may print 2048 as "2K", and a range for a pending job.
var parseCount = batch.Count

// parseMegabytes reads an amount of memory in megabytes without a unit, and returns bytes; 0 if there is none.
func parseMegabytes(s string) int64 {
	n, err := parse.Mem("", s)
	if err != nil {
		return 0
	}
	return n
}

// tres returns the amount of one resource in a list of trackable resources such as "cpu=2,mem=4G,node=1", or "".
func tres(list, name string) string {
	for item := range strings.SplitSeq(list, ",") {
		if amount, ok := strings.CutPrefix(item, name+"="); ok {
			return amount
		}
	}
	return ""
}

// parseExit reads how a job's script ended: a wait status as one number (Slurm 22.05),
// or "status:signal" (later versions).
func parseExit(s string) (status, signal int) {
	if code, sig, ok := strings.Cut(s, ":"); ok {
		c, _ := digits(code)
		g, _ := digits(sig)
		return int(c), int(g)
	}
	n, _ := digits(s)
	return int(n >> 8 & 0xff), int(n & 0x7f)
}

// arrayTasks returns the number of tasks in the id of a pending array such as "8_[1-20:2,40%3]", and
// how many of them may run at once (0: no limit). Any other id is one task.
func arrayTasks(id string) (tasks, throttle int) {
	_, list, ok := strings.Cut(id, "_[")
	if !ok {
		return 1, 0
	}
	list = strings.TrimSuffix(list, "]")
	list, limit, _ := strings.Cut(list, "%")
	n, _ := digits(limit)
	return max(batch.Tasks(list), 1), int(n)
}
