package ui

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// Report writes the history of a job: decision and prediction, actual times, phases, the slowest tasks, failures. Its
// JSON form is the view itself.
func Report(w io.Writer, v report.JobView) error {
	b := sheet{width: widthOf(w)}
	for _, part := range []func(*sheet, report.JobView){
		reportHead, reportPhases, allocsTable, nodesTable, reportSlowest, reportCounters, reportFailures,
	} {
		part(&b, v)
	}
	return put(w, b.String())
}

// item writes a line "name value" of the report's head, and nothing without a value.
func item(b *sheet, name, value string) {
	if value != "" {
		fmt.Fprintf(b, "%-11s%s\n", name, clean(value))
	}
}

func reportHead(b *sheet, v report.JobView) {
	fmt.Fprintf(b, "%s %s%s\n", title(v), v.State, lead(": ", clean(v.Reason)))
	item(b, "decided", v.Decision)
	item(b, "start", startText(v))
	item(b, "run", runText(v))
	item(b, "turnaround", turnaroundText(v))
	item(b, "deadline", deadlineText(v))
	item(b, "took", took(v))
	item(b, "queue", queueLine(v))
	item(b, "tasks", tasksText(v))
	item(b, "attempts", attemptsText(v))
	item(b, "memory", memoryText(v.Memory))
	item(b, "cores", coresText(v.CoreHours))
	item(b, "duplicates", duplicatesText(v.Stragglers))
	item(b, "stragglers", lastOf(v.Stragglers.EndedTotal, "attempt", " ended", v.Stragglers.Ended))
	item(b, "progress", sourcesText(v.ProgressSources))
	item(b, "left", leftText(v))
	item(b, "warnings", warningsText(v))
	item(b, "weight", weightText(v.Weight))
	item(b, "priority", some(v.Priority, func(p int) string { return fmt.Sprint(p) }))
	item(b, "data", list(amount(v.BytesIn, size, "in"), amount(v.BytesOut, size, "out")))
	item(b, "energy", energyText(v.Energy))
	item(b, "rented", rentedText(v.Rented))
	item(b, "output", v.Output)
	item(b, "logs", v.Logs)
	for _, n := range v.Notes {
		item(b, "note", n)
	}
	for _, p := range v.Plans {
		item(b, "planned", clock(p.At, v.At)+" "+p.Decision+replanText(p))
	}
}

// took describes when the job ran and for how long.
func took(v report.JobView) string {
	if v.Submitted.IsZero() {
		return ""
	}
	text := seconds(v.ElapsedS) + " since " + instant(v.Submitted)
	if v.State.Final() && !v.Ended.IsZero() {
		text = seconds(v.ElapsedS) + ", " + instant(v.Submitted) + " to " + instant(v.Ended)
	}
	if !v.Started.IsZero() {
		text += fmt.Sprintf(", %s of it before the first task", seconds(v.Started.Sub(v.Submitted).Seconds()))
	}
	return text
}

// leftText names the processes that were ended after the programs of tasks had ended.
func leftText(v report.JobView) string {
	return lastOf(v.LeftTotal, "task", " left processes that were ended", v.Left)
}

// warningsText says what is to be known of tasks.
func warningsText(v report.JobView) string { return lastOf(v.WarningsTotal, "warning", "", v.Warnings) }

// lastOf counts things and lists the last of them, of which only the end of the list is known; empty for 0.
func lastOf(total int, thing, what string, list []string) string {
	const most = 3
	last := list[max(0, len(list)-most):]
	if len(last) < total {
		what += ", the last ones"
	}
	return clean(counted(total, thing, what+": "+strings.Join(last, "; ")))
}

func tasksText(v report.JobView) string {
	return list(many(v.TasksDone, "done"), many(v.TasksFailed, "failed"),
		many(v.TasksRunning, "running"), many(v.TasksWaiting, "waiting"))
}

// rentedText describes actual and predicted cost and times of a job on rented machines; empty without any.
func rentedText(r *report.Rented) string {
	if r == nil {
		return ""
	}
	cost, done := "cost "+job.Money(r.Came.Cost), "done after "+seconds(r.Came.Makespan)
	use := amount(r.Came.ServerUse, percent, "of the data server used")
	if p := r.Predicted; p != nil {
		cost += " (predicted " + job.Money(p.Cost) + ")"
		done += " (predicted " + seconds(p.Makespan) + ")"
		if use != "" {
			use += aside(lead("predicted ", some(p.ServerUse, percent)))
		}
	}
	return list(cost, done, use)
}

// energyText describes the energy of a job and how it was determined; empty where it is unknown.
func energyText(e *report.Energy) string {
	switch {
	case e == nil:
		return ""
	case e.Source == report.EnergyMeasured:
		return joules(e.Joules) + ", measured while its phases ran"
	default:
		return fmt.Sprintf("%s, estimated from the power of a node; %s of it idle power", joules(e.Joules), joules(e.Idle))
	}
}

// weightText formats a job's weight; empty for the default.
func weightText(w float64) string {
	if w == 1 {
		return ""
	}
	return some(w, func(w float64) string { return fmt.Sprint(w) })
}

func attemptsText(v report.JobView) string {
	a := v.Attempts
	ended := list(many(a.Done, "done"), many(a.Failed, "failed"), many(a.Lost, "lost"),
		many(a.Killed, "killed"), many(a.Broken, "broken by machine or files"), many(a.Requeued, "to go on later"), many(a.Outgrown, "started again with more memory or time"))
	return joined("; ", ended, counted(v.OutputsLost, "map output", " lost"), amount(v.WastedS, seconds, "wasted"))
}

// coresText says what became of the cores that a job held; empty where that is not known.
func coresText(h *report.CoreHours) string {
	if h == nil || h.Held == 0 {
		return ""
	}
	unit, per := "core-h", 3600.0
	if h.Held < 3600 {
		unit, per = "core-s", 1
	}
	part := func(of float64, what string) string {
		return some(of, func(of float64) string { return fmt.Sprintf("%.3g %s", of/per, what) })
	}
	text := fmt.Sprintf("%.3g %s held: %s", h.Held/per, unit, list(part(h.Used, "used"), part(h.Running, "by attempts that run"), part(h.Failed, "lost to failures"),
		part(h.Duplicates, "lost to duplicates"), part(h.Killed, "lost to killed attempts"), part(h.Idle, "idle")))
	return list(text, part(h.Requested, "requested"))
}

func coreHours(s float64) string {
	if s < 36 {
		return "<0.01"
	}
	return fmt.Sprintf("%.2f", s/3600)
}

// Account writes sums of core-hours. Its JSON form is the value itself.
func Account(w io.Writer, a report.Account) error {
	t := newTable(strings.ToUpper(a.By), "JOBS>", "HELD>", "USED>", "RUNNING>", "FAILED>", "DUPLICATES>", "KILLED>", "IDLE>", "REQUESTED>")
	row := func(name string, jobs int, c report.CoreHours) {
		cells := []string{name, job.FormatCount(jobs)}
		for _, of := range []float64{c.Held, c.Used, c.Running, c.Failed, c.Duplicates, c.Killed, c.Idle, c.Requested} {
			cells = append(cells, some(of, coreHours))
		}
		t.add(cells...)
	}
	for _, g := range a.Groups {
		row(cmp.Or(fit(clean(g.Name), 40), "(default)"), g.Jobs, g.Cores)
	}
	row("all", a.Jobs, a.Cores)
	b := "core-hours of jobs that ended since " + instant(a.Since) + ", and of those that are not over\n\n" + t.String()
	why := map[string]int{}
	for _, u := range a.Unread {
		why[u.Why]++
	}
	for _, text := range slices.Sorted(maps.Keys(why)) {
		b += fmt.Sprintf("\n%s not counted: %s", job.Count(why[text], "job"), clean(text))
	}
	return put(w, strings.TrimSuffix(b, "\n")+"\n")
}

// memoryText describes how much of the memory of tasks was wasted; empty where they have no --mem.
func memoryText(m *report.MemoryUse) string {
	if m == nil {
		return ""
	}
	return joined("; ", fmt.Sprintf("%.3g GB·h given to tasks, %.3g GB·h of them wasted", m.GivenGBh, m.WastedGBh),
		counted(m.RanOut, "attempt", " ran out of memory"), lead("last: ", m.Last))
}

// duplicatesText describes how many duplicates of slow tasks ran, and their cost.
func duplicatesText(s report.Stragglers) string {
	if s.Duplicates == 0 {
		return ""
	}
	return fmt.Sprintf("%s of slow tasks, %s of them finished first; %s of processor time for the attempts that did not", job.Count(s.Duplicates, "duplicate"),
		job.FormatCount(s.Won), seconds(s.CostS))
}

// sourcesText describes how the progress of tasks was measured; empty where all were too short.
func sourcesText(by map[string]int) string {
	var parts []string
	for _, source := range append([]job.ProgressSource{job.ProgressHits}, job.Sources()...) {
		parts = append(parts, counted(by[source.String()], "task", " by "+sourceWords[source]))
	}
	text := list(parts...)
	if text != "" {
		text = list(text, many(by[job.ProgressNone.String()], "too short to be measured"))
	}
	return text
}

// sourceWords are the sources of progress in words.
var sourceWords = map[job.ProgressSource]string{job.ProgressHits: "entries of functions", job.ProgressInput: "input read", job.ProgressInstructions: "instructions",
	job.ProgressIO: "bytes read and written", job.ProgressCPU: "processor time"}

func reportPhases(b *sheet, v report.JobView) {
	t := newTable("PHASE", "DONE>", "MEAN>", "P50>", "P95>", "MAX>", "SPAN>", "IN>", "OUT>", "RATE>", "CPU>", "PEAK MEM>")
	for _, p := range v.Phases {
		span := ""
		if !p.FirstStart.IsZero() && p.LastEnd.After(p.FirstStart) {
			span = seconds(p.LastEnd.Sub(p.FirstStart).Seconds())
		}
		s := p.Seconds
		t.add(p.Phase, of(p.Done, p.Total), some(s.Mean, seconds), some(s.P50, seconds), some(s.P95, seconds), some(s.Max, seconds),
			span, some(p.BytesIn, size), some(p.BytesOut, size), bytesRate(p.Rate), some(p.CPUS, seconds), some(p.PeakMem, size))
	}
	section(b, t, "P50>", "SPAN>", "P95>", "RATE>", "IN>", "OUT>", "CPU>", "MAX>")
	reportTakes(b, v)
}

// reportTakes writes the mean use of node resources by an attempt in each phase.
func reportTakes(b *sheet, v report.JobView) {
	t := newTable("PHASE", "CORES EACH>", "DISK EACH>", "NETWORK EACH>")
	for _, p := range v.Phases {
		if p.CPU == nil { // not measured
			continue
		}
		c, d, n := measured(p.CPU, cores), measured(p.Disk, bytesRate), measured(p.Net, bytesRate)
		if c+d+n != "" {
			t.add(p.Phase, c, d, n)
		}
	}
	section(b, t)
}

// cores formats a number of cores: "0.98"; empty for less than a hundredth.
func cores(n float64) string {
	if n < 0.01 {
		return ""
	}
	return fmt.Sprintf("%.2f", n)
}

// measured formats an amount that may be unknown.
func measured(amount *float64, word func(float64) string) string {
	if amount == nil {
		return "not measured"
	}
	return word(*amount)
}

// section writes a table after an empty line, and nothing without rows.
func section(b *sheet, t *table, drop ...string) {
	if t.narrow(b.width, drop...); len(t.rows) > 0 {
		b.WriteString("\n" + t.String())
	}
}

func reportSlowest(b *sheet, v report.JobView) {
	if len(v.Slowest) < 2 {
		return
	}
	t := newTable("SLOWEST", "ATTEMPT>", "TOOK>", "INPUT")
	for _, s := range v.Slowest[:min(len(v.Slowest), 5)] {
		t.add(taskWord(s.Name), strconv.Itoa(s.Attempt), seconds(s.Seconds), inputCell(s.Input))
	}
	section(b, t)
}

func reportCounters(b *sheet, v report.JobView) {
	t := newTable("GROUP", "COUNTER", "SUM>")
	for _, group := range slices.Sorted(maps.Keys(v.Counters)) {
		for _, name := range slices.Sorted(maps.Keys(v.Counters[group])) {
			t.add(group, name, job.FormatCount(int(v.Counters[group][name])))
		}
	}
	section(b, t)
}

func reportFailures(b *sheet, v report.JobView) {
	if v.FailuresTotal == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s", job.Count(v.FailuresTotal, "failure"))
	if n := len(v.Failures); n < v.FailuresTotal {
		fmt.Fprintf(b, ", the last %d of them", n)
	}
	b.WriteString("\n")
	var shown shownErrors
	for _, same := range alike(v.Failures) {
		b.WriteString(join(shown.lines(same[0])))
		if len(same) > 1 {
			b.WriteString(clean(alikeText(same[1:])) + "\n")
		}
	}
}

// gpus formats the GPUs of an attempt, "2" or "0.5"; empty for none.
func gpus(r report.AttemptRow) string {
	if r.GPUShare == 0 {
		return figure(r.GPUs)
	}
	return job.Vector{GPU: int64(r.GPUs) * int64(r.GPUShare)}.GPUFigure()
}

// Rows writes a table of attempts with their phases, and those of several ranks with their nodes, in the order in which they ended. Its JSON form is report.Full.
func Rows(w io.Writer, rows []report.AttemptRow) error {
	t := newTable("TASK", "ATTEMPT>", "NODE", "HOST", "OUTCOME", "GPUS>", "PHASE", startHead(rows), "TOOK>", "IN>", "OUT>", "CPU>", "PEAK MEM>", "INPUT")
	for _, r := range rows {
		head := []string{r.Name, strconv.Itoa(r.Attempt), across(r.Node, r.Shares), across(r.Host, r.Shares), r.Outcome, gpus(r)}
		input := inputCell(r.Input)
		if len(r.Phases) == 0 {
			t.add(append(head, "", r.Started.Local().Format(rowTime), seconds(r.Seconds), "", "", "", "", input)...)
		}
		for _, p := range r.Phases {
			took := seconds(p.End.Sub(p.Start).Seconds())
			if !p.Whole {
				took = ">" + took
			}
			t.add(append(head, p.Phase, p.Start.Local().Format(rowTime), took, some(p.BytesIn, size), some(p.BytesOut, size),
				some(p.CPUS, seconds), some(p.PeakMem, size), input)...)
			head, input = make([]string, len(head)), ""
		}
		for _, s := range r.Shares {
			t.add("", "", s.Node, s.Host, "", "", job.Count(s.Ranks, "rank"), "", "", "", "", some(s.CPUS, seconds), some(s.PeakMem, size), "")
		}
	}
	t.narrow(widthOf(w), "IN>", "OUT>", "HOST", "CPU>", "ATTEMPT>", t.head[7], "NODE", "PEAK MEM>")
	return put(w, t.String())
}

// across returns the name of an attempt's first node, with the number of further ones, "a1/0 +3".
func across(first string, shares []report.ShareView) string {
	if len(shares) < 2 || first == "" {
		return first
	}
	return fmt.Sprintf("%s +%d", first, len(shares)-1)
}

// startHead returns the head of the column of starts with the offset from UTC, because the times are local.
func startHead(rows []report.AttemptRow) string {
	if len(rows) == 0 {
		return "START"
	}
	return "START " + rows[0].Started.Local().Format("-0700")
}

// instant formats a time in the form of all text output: local, with its offset from UTC.
func instant(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05 -0700") }

// rowTime is the format of instants in the table of attempts.
const rowTime = "15:04:05.000"
