package batch

import (
	"math"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
)

// Values that several batch systems write alike.

// Ceil returns n in units of unit, rounded up.
func Ceil(n, unit int64) int64 { return (n + unit - 1) / unit }

// Rounded returns a time in units of unit, rounded up.
func Rounded(d, unit time.Duration) time.Duration {
	return time.Duration(Ceil(int64(d), int64(unit))) * unit
}

// Span reads a length of time: [D-]HH:MM:SS, MM:SS or seconds, which may have a fraction. ok is false if it is none.
func Span(text string) (d time.Duration, ok bool) {
	total := 0.0
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	parts := strings.Split(clock, ":")
	if len(parts) > 3 || hasDays && len(parts) < 3 || text == "" {
		return 0, false
	}
	for i, part := range append([]string{days}, parts...) {
		n, err := strconv.ParseFloat("0"+part, 64) // "::30" is 30 s
		if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return 0, false
		}
		unit := 60.0
		if i == 1 && len(parts) == 3 {
			unit = 24
		}
		total = total*unit + n
	}
	if total > float64(math.MaxInt64/int64(time.Second)) {
		return 0, false
	}
	return time.Duration(total * float64(time.Second)), true
}

// Tasks returns the number of tasks in the list of an array such as "1-10:2,12".
func Tasks(list string) int {
	total := 0
	for item := range strings.SplitSeq(list, ",") {
		span, step, _ := strings.Cut(strings.TrimSpace(item), ":")
		from, to, isSpan := strings.Cut(span, "-")
		first, errFirst := strconv.Atoi(from)
		last, errLast := strconv.Atoi(to)
		by, _ := strconv.Atoi(step) // most lists name none
		switch {
		case !isSpan && errFirst == nil:
			total++
		case isSpan && errFirst == nil && errLast == nil && last >= first:
			total += (last-first)/max(by, 1) + 1
		}
	}
	return min(total, math.MaxInt32)
}

// Throttled makes one entry of a pending job, and two of an array of which no more than most tasks may run at once (0: all may) while busy do:
// the second waits for tasks of the first, in words as in "it waits: …".
func Throttled(q cluster.Queued, most, busy int, words string) []cluster.Queued {
	tasks, room := max(q.Repeat, 1), max(most-busy, 0)
	if most == 0 || room >= tasks || q.Held != "" {
		return []cluster.Queued{q}
	}
	rest := q
	rest.Repeat, rest.Nodes, rest.Start, rest.Held = tasks-room, nil, 0, words
	if room == 0 {
		return []cluster.Queued{rest}
	}
	q.Repeat = room
	return []cluster.Queued{q, rest}
}

// TimePassed returns the message for a job whose wall time has passed.
func TimePassed(limit time.Duration) string {
	return "its wall time of " + job.FormatDuration(limit) + " has passed"
}

// NodeFailed returns the message for a job that ended because the node of its script failed; "" if that is unknown.
func NodeFailed(host string) string {
	return strings.TrimSuffix("the node that ran its script failed: "+host, ": ")
}
