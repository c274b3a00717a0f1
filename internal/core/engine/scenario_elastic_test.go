package engine_test

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/core/engine"
	"berth/internal/core/job"
	"berth/internal/core/step"
)

// elasticInput makes the inputs that only elastic allocations have; nil for another verb.
// Times are relative to now.
func (s *scenario) elasticInput(verb string, a args) step.Input {
	switch verb {
	case "alloc-up":
		up := step.AllocUp{Alloc: job.AllocID(a.pos[0])}
		if v, ok := a.key["left"]; ok {
			up.Ends = s.now.Add(s.duration(v))
		}
		return up
	case "alloc-note":
		note := step.AllocNote{Alloc: job.AllocID(a.pos[0]), Note: a.key["note"], Suspended: a.flag("suspended")}
		if v, ok := a.key["start"]; ok {
			note.Start = s.now.Add(s.duration(v))
		}
		return note
	case "planned":
		p := step.Planned{Job: a.job(0), Answer: job.Answer{Allocs: s.requests(a, a.key["allocs"]), Failed: a.key["failed"],
			Scout: a.num("scout", 0), Decision: a.key["decision"], TaskTimes: s.times(a)}}
		if v, ok := a.key["retry"]; ok {
			p.Retry = s.now.Add(s.duration(v))
		}
		return p
	case "cleared":
		return step.Cleared{Alloc: job.AllocID(a.pos[0])}
	}
	return nil
}

// requests parses "2x30m,1x10m", two nodes for half an hour and one for ten minutes.
func (s *scenario) requests(a args, v string) []job.AllocRequest {
	var rs []job.AllocRequest
	for _, f := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
		r := s.alloc(a)
		nodes, d, _ := strings.Cut(f, "x")
		_, err := fmt.Sscan(nodes, &r.Nodes)
		s.must(err)
		r.Time = s.duration(d)
		if _, further := a.key["more"]; further {
			r.Latest = 0 // only the first request has it
		}
		rs = append(rs, r)
	}
	return rs
}

// elasticStatus prints what only elastic allocations have.
func (s *scenario) elasticStatus(a engine.AllocStatus) string {
	if !a.Request.Elastic {
		return ""
	}
	t := fmt.Sprintf(" for %s begun %t %v", a.Job, a.Begun, time.Duration(a.Began))
	if a.Ends != 0 {
		t += fmt.Sprintf(" ends in %v", a.Ends.Sub(s.now))
	}
	if a.Start != 0 {
		t += fmt.Sprintf(" start in %v", a.Start.Sub(s.now))
	}
	return reasoned(t, a.Note)
}

// stats parses "shuffle:10m,sort:1m": consecutive phases.
func (s *scenario) stats(v string) []job.PhaseStat {
	var stats []job.PhaseStat
	at := job.Time(0)
	for _, f := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' }) {
		phase, d, _ := strings.Cut(f, ":")
		d, peak, _ := strings.Cut(d, ":")
		end := at.Add(s.duration(d))
		stats = append(stats, job.PhaseStat{Phase: s.phase(phase), Start: at, End: end, PeakMemory: s.size(peak)})
		at = end
	}
	return stats
}
