package scenario

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// What a source of jobs may draw at most, so that a slip of the pen does not fill memory.
const (
	maxJobs  = 10_000_000
	peakGap  = 0.49    // s, times the shape: between arrivals in the peak hour; 5 s by default
	maxTasks = 1 << 24 // of one entry [[elastic]]
)

// How jobs of others ask for wall time.
const (
	estimatesUser  = "user"  // as written in the log or the scenario
	estimatesExact = "exact" // what they run
	estimatesModel = "model" // drawn from workload.Estimates
)

// one returns which of the keys a table has, and reports it where it is not exactly one.
func one(t *table, keys ...string) string {
	found := ""
	for _, key := range keys {
		if !t.has(key) {
			continue
		}
		if found != "" {
			t.bad(key, fmt.Sprintf("there are both %s and %s", found, key), "write a table for each")
			return ""
		}
		found = key
	}
	if found == "" {
		t.bad("", "it does not say which jobs there are", "write one of "+strings.Join(keys, ", "))
	}
	return found
}

func readRigid(t *table) rigidSource {
	s := rigidSource{path: t.path}
	kind := one(t, "swf", "sacct", "lublin", "jobs")
	words := []string{estimatesUser, estimatesExact, estimatesModel}
	switch kind {
	case "swf":
		s.swf = t.text("swf", "")
		s.filter = t.flag("filter", false)
		s.window(t)
	case "sacct":
		s.sacct = t.text("sacct", "")
		s.window(t)
	case "lublin":
		words = words[1:] // the model says nothing of users
		s.lublin = readLublin(t.sub("lublin"))
	case "jobs":
		for i, each := range t.list("jobs") {
			j := readJob(each)
			j.ID = int64(i + 1)
			s.jobs = append(s.jobs, j)
		}
	}
	s.estimates = t.word("estimates", words...)
	s.factor = t.number("estimate_factor", 0, 1e6, 0)
	if t.has("estimate_factor") && s.estimates != estimatesModel {
		t.bad("estimate_factor", "estimate_factor means nothing to these estimates", `write estimates = "model" beside it`)
	}
	if kind != "" {
		t.done()
	}
	return s
}

// window reads what of a log is taken.
func (s *rigidSource) window(t *table) {
	if t.word("odd", "refuse", "skip") == "skip" {
		s.odd = workload.Skip
	}
	s.from = t.span("from", 0, 0)
	s.length = t.span("for", time.Second, 0)
}

func readLublin(t *table) *lublinSource {
	if t == nil {
		return nil
	}
	words := make([]string, len(workload.AllTypes))
	for i, k := range workload.AllTypes {
		words[i] = string(k)
	}
	s := &lublinSource{params: workload.Lublin{
		Types: workload.Types(t.word("types", words...)), PeakHour: t.flag("peak_hour", false), Shape: t.number("shape", 0.1, 1e6, 0),
	}}
	if t.has("shape") && !s.params.PeakHour {
		t.bad("shape", "shape is of the peak hour", "write peak_hour = true beside it")
	}
	s.jobs, s.length = amount(t)
	gap := peakGap * s.params.Shape
	if gap == 0 {
		gap = 5
	}
	if s.params.PeakHour && s.length.Seconds()/gap > maxJobs {
		t.bad("for", fmt.Sprintf("these are about %.0f jobs, which is too many to simulate", s.length.Seconds()/gap), "draw fewer")
	}
	t.done()
	return s
}

// amount reads how many jobs are drawn: jobs or for.
func amount(t *table) (jobs int, length time.Duration) {
	jobs = int(t.count("jobs", 0, maxJobs, 0))
	length = t.span("for", time.Millisecond, 0)
	if t.has("jobs") == t.has("for") {
		t.bad("", "it does not say how many jobs there are", "write either jobs or for")
	}
	return jobs, length
}

func readJob(t *table) workload.Rigid {
	j := workload.Rigid{
		User: t.count("user", 0, 1<<31, 0), Submit: job.Time(t.span("submit", 0, 0)),
		Nodes: int(t.count("nodes", 1, maxNodes, 1)), Run: t.span("run", 0, 0),
	}
	j.Request = t.span("request", time.Millisecond, max(j.Run, time.Millisecond))
	if !t.has("run") {
		t.bad("", "run is missing", "say how long the job runs")
	}
	t.done()
	return j
}
