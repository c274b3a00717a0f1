package ui

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/timeline"
)

// maxSlots is how many slots a table lists: all chosen ones and the best others.
const maxSlots = 15

// outlook renders the state of the queue: a chart of free nodes over time with the chosen allocations, and a table of
// the slots. No line is wider than the style.
func outlook(at job.Time, o plan.Outlook, style Style) []string {
	title := fmt.Sprintf("queue of partition %s: %d of %s free now", clean(o.Partition), freeNow(o), job.Count(o.Nodes, "node"))
	lines := append([]string{fit(title, style.Width)}, newChart(at, o, style).lines()...)
	if len(o.Slots) > 0 {
		lines = append(append(lines, ""), slotLines(at, o, style)...)
	}
	for i, x := range o.LeftOut {
		if i == 0 {
			lines = append(lines, "")
		}
		lines = append(lines, wrap("partition "+clean(x.Partition)+" is left out: "+clean(x.Why), style.Width)...)
	}
	return lines
}

// asked returns the outlook of a plan with a chosen slot for each request: for requests after the first the plan may
// not have compared a slot of its own.
func asked(p plan.Plan) plan.Outlook {
	o := *p.Outlook
	o.Slots = slices.Clone(o.Slots)
	all := append([]job.AllocRequest{p.Alloc}, p.More...)
	same := func(r job.AllocRequest) bool {
		return slices.ContainsFunc(p.Outlook.Slots, func(c plan.Candidate) bool {
			return c.Chosen && c.Take == r.Nodes && c.Time == r.Time && math.Abs(c.Wait-max(r.Start, p.At).Sub(p.At).Seconds()) < 1
		})
	}
	shown := slices.IndexFunc(all, same)
	for i, r := range all {
		start := max(r.Start, p.At)
		if r.Start == 0 || same(r) || i < len(p.Serves) && shown >= 0 && !slices.Equal(p.Serves[i], p.Serves[shown]) {
			continue // it is for other tasks, whose slots are not shown
		}
		c := plan.Candidate{
			Slot: timeline.Slot{Start: start, Nodes: r.Nodes, Duration: r.Time}, Take: r.Nodes, PerNode: r.PerNode, Time: r.Time,
			Wait: start.Sub(p.At).Seconds(), Chosen: true, Why: "requested as well, because the job ends sooner with it",
		}
		if r.Time == 0 {
			c.Duration = timeline.Unbounded
		}
		at := slices.IndexFunc(o.Slots, func(d plan.Candidate) bool { return d.Wait > c.Wait })
		if at < 0 {
			at = len(o.Slots)
		}
		o.Slots = slices.Insert(o.Slots, at, c)
	}
	return o
}

// done returns after how many seconds the job is expected to end; 0: no prediction.
func done(o plan.Outlook) float64 {
	if o.Turnaround > 0 {
		return o.Turnaround
	}
	last := 0.0
	for _, s := range o.Slots {
		if end := s.Wait + s.Run; s.Chosen && s.Run > 0 && end > last && !math.IsInf(end, 0) {
			last = end
		}
	}
	return last
}

func freeNow(o plan.Outlook) int {
	if len(o.Timeline) == 0 {
		return 0
	}
	return min(max(o.Timeline[0].Free, 0), o.Nodes)
}

// letters names the chosen slots A, B, C, by their index in the outlook.
func letters(slots []plan.Candidate) map[int]byte {
	names := map[int]byte{}
	for i, c := range slots {
		if c.Chosen {
			names[i] = byte(min('A'+len(names), 'Z'))
		}
	}
	return names
}

// listed returns the indices of the slots that the table lists, in their order.
func listed(slots []plan.Candidate) []int {
	order := make([]int, len(slots))
	for i := range order {
		order[i] = i
	}
	if len(order) <= maxSlots {
		return order
	}
	rank := func(c plan.Candidate) float64 {
		switch {
		case c.Chosen:
			return -1
		case math.IsNaN(c.Total) || math.IsNaN(c.Wait):
			return math.Inf(1)
		case c.Total != 0:
			return c.Total
		default: // no prediction: the sooner the better
			return c.Wait
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(rank(slots[a]), rank(slots[b]))
	})
	order = order[:max(maxSlots, len(letters(slots)))]
	slices.Sort(order)
	return order
}

// Layout of the table's last column: it is on the right if that leaves leastWhy columns, else below each row.
const (
	leastWhy  = 26
	whyIndent = 6
)

// turnaroundColumn is the column of slotLines whose head is wider than its cells.
const turnaroundColumn = 8

// slotLines renders the table of slots.
func slotLines(at job.Time, o plan.Outlook, style Style) []string {
	t := newTable("", "START", "NODES>", "FOR>", "TAKE>", "TIME>", "WAIT>", "RUN>", "TURNAROUND>", "RISK>")
	names, shown := letters(o.Slots), listed(o.Slots)
	for _, i := range shown {
		name := ""
		if l, ok := names[i]; ok {
			name = string(l)
		}
		t.add(slotCells(name, at, o.Slots[i], style)...)
	}
	rows, wide := t.lines()
	if wide > style.Width { // narrower gaps, so that all columns fit
		t.gap, t.head[turnaroundColumn] = " ", "TOTAL>"
		rows, wide = t.lines()
	}
	if style.Width-wide-2 >= leastWhy {
		rows[0] = pad(rows[0], wide) + "  WHY"
	} else {
		wide = 0
	}
	paint := color(style.Color)
	lines := append(setText(o, style.Width), paint.dim(fit(rows[0], style.Width)))
	for n, i := range shown {
		for _, l := range withWhy(rows[n+1], clean(o.Slots[i].Why), wide, style.Width) {
			if o.Slots[i].Chosen {
				l = paint.bold(l)
			}
			lines = append(lines, l)
		}
	}
	if rest := len(o.Slots) - len(shown); rest > 0 {
		lines = append(lines, fit(fmt.Sprintf("and %s more; all of them with --json", job.Count(rest, "slot")), style.Width))
	}
	return lines
}

// setText says, where several slots are chosen, that a row describes its slot alone, and when the job ends with all of
// them.
func setText(o plan.Outlook, width int) []string {
	n := len(letters(o.Slots))
	if n < 2 || o.Turnaround <= 0 {
		return nil
	}
	names := fmt.Sprintf("A to %c", 'A'+byte(min(n, 26)-1))
	if n == 2 {
		names = "A and B"
	}
	return wrap(fmt.Sprintf("each row is for that slot alone; %s together take %s on average", names, rough(o.Turnaround)), width)
}

// withWhy adds the reason of a slot to its row: in a column at beside, or below the row where beside is 0. No line is
// wider than width.
func withWhy(row, why string, beside, width int) []string {
	lines, at := []string{row}, beside+2
	if beside == 0 {
		at = whyIndent
	}
	for k, part := range wrap(why, width-at) {
		if k == 0 && beside > 0 {
			lines[0] = pad(row, beside) + "  " + part
			continue
		}
		lines = append(lines, strings.Repeat(" ", at)+part)
	}
	for k := range lines {
		lines[k] = fit(lines[k], width)
	}
	return lines
}

// slotCells returns the cells of a slot's row.
func slotCells(name string, at job.Time, c plan.Candidate, style Style) []string {
	start := "now"
	switch {
	case c.Start == timeline.Never:
		start = "never"
	case c.Start > at:
		start = clock(c.Start.Std(), at.Std())
	}
	lasts, limit, take, risk := "no end", "no limit", "", ""
	if c.Duration != timeline.Unbounded {
		lasts = rough(c.Duration.Seconds())
	}
	if c.Time > 0 {
		limit = rough(c.Time.Seconds())
	}
	if c.Take > 0 {
		take = fmt.Sprintf("%d%s%d", c.Take, style.characters().times, c.PerNode.CPUs)
	} else {
		limit = ""
	}
	if c.Run > 0 {
		risk = percent(c.Risk)
	}
	return []string{name, start, fmt.Sprint(c.Nodes), lasts, take, limit, rough(c.Wait), some(c.Run, rough), some(c.Total, rough), risk}
}

// rough formats seconds with about two digits: predictions are no more precise.
func rough(s float64) string {
	const most = 100 * 365 * 24 * 3600
	switch {
	case math.IsNaN(s) || s > most:
		return "never"
	case s <= 0:
		return "0s"
	}
	d := job.Seconds(s)
	switch {
	case d >= 24*time.Hour:
		d = d.Round(time.Hour)
	case d >= 10*time.Minute:
		d = d.Round(time.Minute)
	case d >= 10*time.Second:
		d = d.Round(time.Second)
	}
	return job.FormatDuration(d)
}
