package scenario

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/replicate"
	"berth/internal/simulate/sim"
)

// means returns the means of the row and their names, in its order.
func (row *Row) means() (all []*Mean, names []string) {
	v := reflect.ValueOf(row).Elem()
	for i := range v.NumField() {
		if m, ok := v.Field(i).Addr().Interface().(*Mean); ok {
			all, names = append(all, m), append(names, v.Type().Field(i).Tag.Get("json"))
		}
	}
	return all, names
}

// WaysCSV writes a line for each adaptor. Unknown numbers are empty.
func (r *Report) WaysCSV(w io.Writer) error {
	head := []string{"way"}
	_, names := new(Row).means()
	for _, h := range names {
		head = append(head, h, h+"_half_width")
	}
	lines := [][]string{head}
	for i := range r.Ways {
		line := []string{r.Ways[i].Way}
		means, _ := r.Ways[i].means()
		for _, m := range means {
			line = append(line, digits(m.Mean), digits(m.HalfWidth))
		}
		lines = append(lines, line)
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// digits formats a number with six decimals; nil gives an empty text.
func digits(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', 6, 64)
}

var jobsHead = []string{
	"replication", "way", "kind", "job_id", "workload_name", "user", "submission_time", "requested_number_of_resources",
	"success", "starting_time", "finish_time", "waiting_time", "turnaround_time", "stretch", "allocations", "lost_attempts",
}

// JobsCSV writes a line for each job of each simulation. Columns that Batsim also has are named as
// in Batsim. Times are seconds since the beginning of the workload.
func (r *Report) JobsCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	_ = out.Write(jobsHead) // an error is the writer's until the end
	for i := range r.runs {
		u := &r.runs[i]
		for k := range u.result.Rigid {
			j := &u.cfg.Rigid[k]
			_ = out.Write(u.line("hpc", j.ID, "", j.User, &u.result.Rigid[k]))
		}
		for k := range u.result.Elastic {
			e := &u.cfg.Elastic[k]
			_ = out.Write(u.line("mr", e.ID, e.App, e.User, &u.result.Elastic[k]))
		}
	}
	out.Flush()
	return out.Error()
}

func (u *run) line(kind string, id int64, app string, user int64, o *sim.Outcome) []string {
	stretch := ""
	if run := o.Finish.Sub(o.Start); run > 0 {
		stretch = strconv.FormatFloat(o.Turnaround()/run.Seconds(), 'f', 6, 64)
	}
	return []string{
		strconv.Itoa(u.replication + 1), u.way, kind, strconv.FormatInt(id, 10), app, strconv.FormatInt(user, 10),
		seconds(o.Submit.Sub(0)), strconv.Itoa(o.Nodes), strconv.Itoa(int(1 - number(o.Killed))),
		seconds(o.Start.Sub(0)), seconds(o.Finish.Sub(0)), seconds(o.Start.Sub(o.Submit)), seconds(o.Finish.Sub(o.Submit)),
		stretch, strconv.Itoa(o.Allocs), strconv.Itoa(o.Lost),
	}
}

// seconds formats a time in seconds with milliseconds.
func seconds(d time.Duration) string {
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'f', 3, 64)
}

// section is a table of the printed report: one topic, with a line for each way that it concerns.
type section struct {
	title    string
	head     []string
	concerns func(*Row) bool
	cells    func(*Row) []string
}

// sections returns all tables. Those that concern no way are not shown.
func (r *Report) sections() []section {
	own := func(row *Row) bool { return positive(row.Jobs) }
	below := ""
	if i := slices.IndexFunc(r.Ways, func(row Row) bool { return own(&row) }); i >= 0 {
		below = "below " + r.Ways[i].Way
	}
	return []section{
		{"Your jobs", []string{"jobs", "turnaround", below, "wait", "failed", "allocations", "lost attempts"}, own, (*Row).own},
		{"Rented machines", []string{"machines", "interrupted", "cost", "predicted cost", "predicted turnaround", "late"},
			func(row *Row) bool { return positive(row.Rented) }, (*Row).hired},
		{"Other jobs (HPC)", []string{"jobs", "turnaround", "wait", "bounded slowdown"}, func(row *Row) bool { return positive(row.HPCJobs) }, (*Row).others},
		{"The cluster", []string{"utilization", "makespan"}, func(*Row) bool { return true }, (*Row).cluster},
	}
}

// Text prints the report as tables.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d nodes, %s, seed %d, %s\n", r.Nodes, r.Policy, r.Seed, job.Count(r.Replications, "replication"))
	for _, s := range r.sections() {
		lines := [][]string{append([]string{"way"}, s.head...)}
		for i := range r.Ways {
			if row := &r.Ways[i]; s.concerns(row) {
				lines = append(lines, append([]string{row.name()}, s.cells(row)...))
			}
		}
		if len(lines) > 1 {
			fmt.Fprintf(&b, "\n%s\n", s.title)
			replicate.WriteGrid(&b, lines, 1)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func positive(m Mean) bool { return m.Mean != nil && *m.Mean > 0 }

// name is the way for readers.
func (row *Row) name() string {
	if row.Way == Alone && !positive(row.Jobs) {
		return "(other jobs alone)"
	}
	return row.Way
}

func (row *Row) own() []string {
	below := ""
	if row.Under != nil {
		below = row.Under.text(100, 1) + " %"
	}
	return []string{row.Jobs.text(1, 0), row.Turnaround.time(), below, row.Wait.time(), row.Failed.text(1, 0), row.Allocations.text(1, 1), row.Lost.text(1, 0)}
}

func (row *Row) hired() []string {
	return []string{row.Rented.text(1, 1), row.Interrupted.text(1, 1), row.Cost.text(1, 2), row.ExpectedCost.text(1, 2), row.ExpectedTurnaround.time(), row.Late.text(1, 2)}
}

func (row *Row) others() []string {
	return []string{row.HPCJobs.text(1, 0), row.HPCTurnaround.time(), row.HPCWait.time(), row.HPCBSLD.text(1, 2)}
}

func (row *Row) cluster() []string {
	return []string{row.Utilization.text(100, 1) + " %", row.Makespan.time()}
}

// text formats the mean times a factor, with its half-width if it is above 0.
func (m Mean) text(factor float64, decimals int) string {
	return m.format(func(v float64) string { return strconv.FormatFloat(v*factor, 'f', decimals, 64) })
}

func (m Mean) time() string {
	return m.format(func(v float64) string { return job.FormatDuration(job.Seconds(v)) })
}

func (m Mean) format(text func(float64) string) string {
	switch {
	case m.Mean == nil:
		return ""
	case m.HalfWidth == nil || *m.HalfWidth <= 0:
		return text(*m.Mean)
	}
	return text(*m.Mean) + "±" + text(*m.HalfWidth)
}
