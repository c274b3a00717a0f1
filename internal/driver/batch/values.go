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

// Span reads a length of time: [D-]HH:MM:SS, MM:SS or seconds, which may have a fraction; 0 if it is none, as "UNLIMITED".
func Span(text string) time.Duration {
	total := 0.0
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	parts := strings.Split(clock, ":")
	if len(parts) > 3 || hasDays && len(parts) < 3 {
		return 0
	}
	for i, part := range append([]string{days}, parts...) {
		n, err := strconv.ParseFloat("0"+part, 64) // "::30" is 30 s
		if err != nil || !(n >= 0 && n <= math.MaxFloat64) {
			return 0
		}
		unit := 60.0
		if i == 1 && len(parts) == 3 {
			unit = 24
		}
		total = total*unit + n
	}
	if total > float64(math.MaxInt64/int64(time.Second)) {
		return 0
	}
	return job.Seconds(total)
}

// Number reads a number that is not negative, as "2", "0.500000" or "1.50K", where K is 1024 and M its square; 0 if there is none.
func Number(text string) float64 {
	scale := 1.0
	if number, ok := strings.CutSuffix(text, "K"); ok {
		text, scale = number, 1<<10
	} else if number, ok := strings.CutSuffix(text, "M"); ok {
		text, scale = number, 1<<20
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 0 && n <= math.MaxInt32) {
		return 0
	}
	return n * scale
}

// Count reads a number without its fraction. Of a range such as "2-4" the lower end counts.
func Count(text string) int {
	from, _, _ := strings.Cut(text, "-")
	return int(Number(from))
}

// Time reads a time in UTC in one of these layouts; 0 if it is none.
func Time(text string, layouts ...string) job.Time {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 1970 && t.Year() < 2200 {
			return job.TimeOf(t)
		}
	}
	return 0
}

// Units returns how many units n is, rounded up, as a text.
func Units(n, unit int64) string { return strconv.FormatInt(Ceil(n, unit), 10) }

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
