package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// nothingLeft returns the decision for a job without tasks that are not done.
func nothingLeft(spec *job.Spec) string {
	if isOpen(spec) {
		return "an open bag: its tasks are planned when they are added"
	}
	return "nothing is left to do"
}

// summary returns how much there is to do and how long it is predicted to take, in words.
func (p *Plan) summary() string {
	what, bounds := "turnaround", p.Turnaround()
	switch {
	case p.Outlook == nil && p.Predicted != nil:
		what, bounds = "run", &p.Predicted.Interval
	case bounds == nil:
		return fmt.Sprintf("%s; no prediction (%s)", p.amount(), p.Source)
	}
	return fmt.Sprintf("%s; predicted %s %s (%s)", p.amount(), what, formatInterval(*bounds), p.Source)
}

// amount returns how many tasks there are and in how many waves they run, in words.
func (p *Plan) amount() string {
	left := p.plannedPart()
	var parts []string
	if p.Kind == job.Bag {
		parts = append(parts, job.Count(left.Tasks, "task"))
		if left.Tasks > 1 {
			parts = append(parts, fmt.Sprintf("%d at once", min(p.TaskSlots, left.Tasks)))
		}
		return strings.Join(parts, ", ")
	}
	if left.Tasks > 0 || left.Reduces == 0 {
		parts = append(parts, fmt.Sprintf("%s in %s", job.Count(left.Tasks, "map"), job.Count(ceilDiv(left.Tasks, p.TaskSlots), "wave")))
	}
	if left.Reduces > 0 {
		reduces := job.Count(left.Reduces, "reduce")
		if w := ceilDiv(left.Reduces, p.ReduceSlots); w > 1 {
			reduces += fmt.Sprintf(" in %d waves", w)
		}
		parts = append(parts, reduces)
	}
	return strings.Join(parts, ", ")
}

// gangsAtOnce says how many gangs run at once on nodes with so many cores, and what these have besides; nothing of other tasks.
func (m taskMix) gangsAtOnce(tasks, nodes, cores int) []string {
	if len(m) != 1 || !m[0].Several() || tasks == 0 {
		return nil
	}
	verb := "run"
	if tasks == 1 {
		verb = "runs"
	}
	text := fmt.Sprintf("%s of %s %s at once on %s", job.Count(tasks, "task"), job.Count(m[0].Ranks, "rank"), verb, job.Count(nodes, "node"))
	if idle := cores - tasks*m[0].whole().CPUs; idle > 0 {
		text += "; " + are(idle, "core") + " left idle"
	}
	return []string{text}
}

// source returns what the prediction is based on, in words.
func source(prof *predict.Profile, size predict.Size) string {
	s := fmt.Sprintf("profile of %s of %s, ", job.Count(prof.Runs, "run"), predict.Label(prof.App))
	if size.Kind == job.MapReduce {
		s += between(job.FormatSize(prof.MinInput), job.FormatSize(prof.MaxInput)) + " input"
	} else {
		s += between(job.FormatCount(prof.MinTasks), job.Count(prof.MaxTasks, "task"))
	}
	if f := prof.Extrapolated(size); f != 1 {
		s += ", extrapolated " + times(f)
	}
	return s
}

// between returns a range as "low–high", or one of them where both read the same.
func between(lo, hi string) string {
	if lo == hi || strings.HasPrefix(hi, lo+" ") {
		return hi
	}
	return lo + "–" + hi
}

// sortReason returns where the memory for sorting comes from.
func sortReason(l Layout, r *job.Request) string {
	switch per := job.FormatSize(l.SortMemory); {
	case r.SortMemory > 0:
		return per + " to sort in on each node, as requested"
	case l.SortMemory == l.PerNode.Mem/sortShare:
		return per + " to sort in on each node: half of its memory"
	default:
		return fmt.Sprintf("%s to sort in on each node: %s a core", per, job.FormatSize(l.SortMemory/int64(l.PerNode.CPUs)))
	}
}

// times returns "×8", "×0.25", "×1000" or "÷2,000": two significant digits, no decimals from 10 on.
func times(f float64) string {
	if f >= 9.95 {
		return "×" + strconv.FormatFloat(f, 'f', 0, 64)
	}
	if f < 0.0095 { // ÷100,000 and not ×1e-05
		return "÷" + job.FormatCount(int(math.Round(1/f)))
	}
	return "×" + strconv.FormatFloat(f, 'g', 2, 64)
}

// unit is a unit of time, used for durations below a bound in seconds.
type unit struct {
	below, seconds float64
	name           string
}

var units = []unit{{1, 1e-3, "ms"}, {120, 1, "s"}, {2 * 3600, 60, "min"}, {48 * 3600, 3600, "h"}}

func unitFor(seconds float64) unit {
	for _, u := range units {
		if seconds < u.below {
			return u
		}
	}
	return unit{seconds: 24 * 3600, name: "days"}
}

// decimals returns the number of decimals of a duration: one below 10 units.
func (u unit) decimals(seconds float64) int {
	if seconds/u.seconds < 9.95 {
		return 1
	}
	return 0
}

func (u unit) number(seconds float64, decimals int) string {
	s := strconv.FormatFloat(seconds/u.seconds, 'f', decimals, 64)
	return strings.TrimSuffix(s, ".0")
}

// duration formats a duration for people: "17 s", "2.5 h".
func duration(seconds float64) string {
	u := unitFor(seconds)
	return u.number(seconds, u.decimals(seconds)) + " " + u.name
}

// formatInterval formats bounds for people in the unit of the upper one and with the decimals of the lower one: "12–17 s",
// "9.4–10.3 s".
func formatInterval(i predict.Interval) string {
	u := unitFor(i.Up)
	lo, hi := u.number(i.Low, u.decimals(i.Low)), u.number(i.Up, u.decimals(i.Low))
	if lo == hi {
		return hi + " " + u.name
	}
	return lo + "–" + hi + " " + u.name
}
