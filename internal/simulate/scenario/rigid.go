package scenario

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/workload"
)

// Limits of what a source of jobs may draw, so that a typing error does not fill the memory.
const (
	maxJobs  = 10_000_000
	peakGap  = 0.49    // s, multiplied by the shape: between arrivals in the peak hour; 5 s by default
	maxTasks = 1 << 24 // of one entry [[elastic]]
)

// The kinds of wall times that rigid jobs request.
const (
	estimatesUser  = "user"  // as written in the log or the scenario
	estimatesExact = "exact" // equal to the run time
	estimatesModel = "model" // drawn from workload.Estimates
)

// one returns the single key of keys that the table has, and reports an error if there is none or
// more than one.
func one(t *tomlfile.Table, keys ...string) string {
	found := ""
	for _, key := range keys {
		if !t.Has(key) {
			continue
		}
		if found != "" {
			t.Bad(key, fmt.Sprintf("there are both %s and %s", found, key), "write a separate table for each")
			return ""
		}
		found = key
	}
	if found == "" {
		t.Bad("", "the kind of jobs is missing", "write one of "+strings.Join(keys, ", "))
	}
	t.SetKind(found)
	return found
}

func readRigid(t *tomlfile.Table) rigidSource {
	s := rigidSource{path: t.Path("")}
	kind := one(t, "swf", "sacct", "lublin", "jobs")
	words := []string{estimatesUser, estimatesExact, estimatesModel}
	switch kind {
	case "swf":
		s.swf = t.Text("swf", "")
		s.filter = t.Flag("filter", false)
		s.window(t)
	case "sacct":
		s.sacct = t.Text("sacct", "")
		s.window(t)
	case "lublin":
		words = words[1:] // the model has no users
		s.lublin = readLublin(t.Sub("lublin"))
	case "jobs":
		for i, each := range t.List("jobs") {
			j := readJob(each)
			j.ID = int64(i + 1)
			s.jobs = append(s.jobs, j)
		}
	}
	s.estimates = t.Word("estimates", words...)
	s.factor = t.Number("estimate_factor", 0, 1e6, 0)
	if t.Has("estimate_factor") && s.estimates != estimatesModel {
		t.Bad("estimate_factor", "estimate_factor has no effect with these estimates", `write estimates = "model" as well`)
	}
	if kind != "" {
		t.Done()
	}
	return s
}

// window reads which part of a log is used.
func (s *rigidSource) window(t *tomlfile.Table) {
	if t.Word("odd", "refuse", "skip") == "skip" {
		s.odd = workload.Skip
	}
	s.from = span(t, "from", 0, 0)
	s.length = span(t, "for", time.Second, 0)
}

func readLublin(t *tomlfile.Table) *lublinSource {
	if t == nil {
		return nil
	}
	words := make([]string, len(workload.AllTypes))
	for i, k := range workload.AllTypes {
		words[i] = string(k)
	}
	s := &lublinSource{params: workload.Lublin{
		Types: workload.Types(t.Word("types", words...)), PeakHour: t.Flag("peak_hour", false), Shape: t.Number("shape", 0.1, 1e6, 0),
	}}
	if t.Has("shape") && !s.params.PeakHour {
		t.Bad("shape", "shape has an effect only in the peak hour", "write peak_hour = true as well")
	}
	s.jobs, s.length = amount(t)
	gap := peakGap * s.params.Shape
	if gap == 0 {
		gap = 5
	}
	if s.params.PeakHour && s.length.Seconds()/gap > maxJobs {
		t.Bad("for", fmt.Sprintf("these are about %.0f jobs, which is too many to simulate", s.length.Seconds()/gap), "draw fewer jobs")
	}
	t.Done()
	return s
}

// amount reads the number of jobs to draw: jobs or for.
func amount(t *tomlfile.Table) (jobs int, length time.Duration) {
	jobs = int(t.Count("jobs", 0, maxJobs, 0))
	length = span(t, "for", time.Millisecond, 0)
	if t.Has("jobs") == t.Has("for") {
		t.Bad("", "the number of jobs is missing", "write either jobs or for")
	}
	return jobs, length
}

func readJob(t *tomlfile.Table) workload.Rigid {
	j := workload.Rigid{
		User: t.Count("user", 0, 1<<31, 0), Submit: job.Time(span(t, "submit", 0, 0)),
		Nodes: int(t.Count("nodes", 1, maxNodes, 1)), Run: span(t, "run", 0, 0),
	}
	j.Request = span(t, "request", time.Millisecond, max(j.Run, time.Millisecond))
	t.Need("run", "", "give the run time of the job")
	t.Done()
	return j
}
