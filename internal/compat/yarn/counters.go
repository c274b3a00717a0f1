package yarn

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// group is a group of counters. Its names are those that people and programs read.
type group struct {
	Name     string    `json:"name"`
	Display  string    `json:"displayName"`
	Counters []counter `json:"counts"`
}

type counter struct {
	Name    string `json:"name"`
	Display string `json:"displayName"`
	Value   int64  `json:"value"`
}

// framework has the display names of the counters of tasks, in Hadoop's order (TaskCounter.properties).
const framework = `MAP_INPUT_RECORDS Map input records
MAP_OUTPUT_RECORDS Map output records
MAP_OUTPUT_BYTES Map output bytes
COMBINE_INPUT_RECORDS Combine input records
COMBINE_OUTPUT_RECORDS Combine output records
REDUCE_INPUT_GROUPS Reduce input groups
REDUCE_SHUFFLE_BYTES Reduce shuffle bytes
REDUCE_INPUT_RECORDS Reduce input records
REDUCE_OUTPUT_RECORDS Reduce output records
SPILLED_RECORDS Spilled Records`

// groups returns a job's counters in the order in which Hadoop prints them.
func groups(v report.JobView, rows []report.AttemptRow) []group {
	list := []group{launched(rows), tasks(v.Counters[job.TaskCounterGroup])}
	for _, name := range slices.Sorted(maps.Keys(v.Counters)) {
		if name == job.TaskCounterGroup {
			continue
		}
		own := group{Name: name, Display: name}
		for _, c := range slices.Sorted(maps.Keys(v.Counters[name])) {
			own.Counters = append(own.Counters, counter{c, c, v.Counters[name][c]})
		}
		list = append(list, own)
	}
	const in, out = "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter", "org.apache.hadoop.mapreduce.lib.output.FileOutputFormatCounter"
	list = append(list, group{in, "File Input Format Counters ", []counter{{"BYTES_READ", "Bytes Read", v.BytesIn}}},
		group{out, "File Output Format Counters ", []counter{{"BYTES_WRITTEN", "Bytes Written", v.BytesOut}}})
	return slices.DeleteFunc(list, func(g group) bool { return len(g.Counters) == 0 })
}

// jobCounters are the counters of attempts: name, type of their tasks, outcome, and what people read.
const jobCounters = `NUM_FAILED_MAPS MAP failed Failed map tasks
NUM_FAILED_REDUCES REDUCE failed Failed reduce tasks
NUM_KILLED_MAPS MAP killed Killed map tasks
NUM_KILLED_REDUCES REDUCE killed Killed reduce tasks
TOTAL_LAUNCHED_MAPS MAP any Launched map tasks
TOTAL_LAUNCHED_REDUCES REDUCE any Launched reduce tasks`

// launched returns Hadoop's counters of attempts.
func launched(rows []report.AttemptRow) group {
	g := group{Name: "org.apache.hadoop.mapreduce.JobCounter", Display: "Job Counters "}
	for line := range strings.SplitSeq(jobCounters, "\n") {
		c := strings.SplitN(line, " ", 4)
		var n int64
		for _, r := range rows {
			if taskType(r.Name) == c[1] && (c[2] == "any" || c[2] == r.Outcome) {
				n++
			}
		}
		if n > 0 {
			g.Counters = append(g.Counters, counter{c[0], c[3], n})
		}
	}
	return g
}

func tasks(values map[string]int64) group {
	g := group{Name: job.TaskCounterGroup, Display: "Map-Reduce Framework"}
	for line := range strings.SplitSeq(framework, "\n") {
		name, display, _ := strings.Cut(line, " ")
		if n, known := values[name]; known {
			g.Counters = append(g.Counters, counter{name, display, n})
		}
	}
	return g
}

// text returns counters as Hadoop prints them.
func text(list []group) string {
	var b strings.Builder
	n := 0
	for _, g := range list {
		n += len(g.Counters)
		fmt.Fprintf(&b, "\n\t%s", oneLine(g.Display))
		for _, c := range g.Counters {
			fmt.Fprintf(&b, "\n\t\t%s=%d", oneLine(c.Display), c.Value)
		}
	}
	return fmt.Sprintf("Counters: %d%s", n, b.String())
}

// oneLine replaces control characters in a text, which may contain names that others chose.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return ' '
		}
		return r
	}, s)
}
