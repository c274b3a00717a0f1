package plan

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/timeline"
)

// TestCandidateJSON: the keys of slot and candidate are in one object, a value without an end is null, and reading
// returns the written value.
func TestCandidateJSON(t *testing.T) {
	full := Candidate{
		Slot: timeline.Slot{Start: 1, Nodes: 2, Duration: 3}, Take: 4, PerNode: job.Resources{CPUs: 5, Mem: 6}, Time: time.Minute,
		Wait: 7, Run: 8, Total: 9, Risk: 0.1, Chosen: true, Why: "why",
	}
	endless := Candidate{Slot: timeline.Slot{Nodes: 2, Duration: timeline.Unbounded}, Wait: 1}
	never := Candidate{Slot: timeline.Slot{Start: timeline.Never}, Wait: math.Inf(1), Run: math.Inf(1), Total: math.Inf(1)}
	for want, c := range map[string]Candidate{
		`{"start_ns":1,"nodes":2,"duration_ns":3,"take_nodes":4,"per_node":{"cpus":5,"mem_bytes":6},"time_ns":60000000000,` +
			`"wait_s":7,"run_s":8,"turnaround_s":9,"timeout_share":0.1,"chosen":true,"why":"why"}`: full,
		`{"start_ns":0,"nodes":2,"duration_ns":null,"take_nodes":0,"per_node":{"cpus":0,"mem_bytes":0},"time_ns":0,` +
			`"wait_s":1,"run_s":0,"turnaround_s":0,"timeout_share":0,"chosen":false,"why":""}`: endless,
		`{"start_ns":null,"nodes":0,"duration_ns":0,"take_nodes":0,"per_node":{"cpus":0,"mem_bytes":0},"time_ns":0,` +
			`"wait_s":null,"run_s":null,"turnaround_s":null,"timeout_share":0,"chosen":false,"why":""}`: never,
	} {
		b, err := json.Marshal(Outlook{Slots: []Candidate{c}})
		if err != nil || !strings.Contains(string(b), `"slots":[`+want+`]`) {
			t.Errorf("%+v: got %s, %v; want %s", c, b, err, want)
		}
		var back Outlook
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(back.Slots, []Candidate{c}) {
			t.Errorf("%s: got %+v, %v; want %+v", b, back.Slots, err, c)
		}
	}
	var c Candidate
	if json.Unmarshal([]byte(`{"take_nodes":"all"}`), &c) == nil {
		t.Error("a candidate of all nodes is read")
	}
}

// TestCandidateJSONIsWhole: each field of a candidate is written, under its own name.
func TestCandidateJSONIsWhole(t *testing.T) {
	written := map[string]bool{}
	for f := range reflect.TypeFor[candidateJSON]().Fields() {
		written[f.Tag.Get("json")] = true
	}
	n := 0
	for _, typ := range []reflect.Type{reflect.TypeFor[Candidate](), reflect.TypeFor[timeline.Slot]()} {
		for f := range typ.Fields() {
			if f.Anonymous || !f.IsExported() {
				continue
			}
			if n++; !written[f.Tag.Get("json")] {
				t.Errorf("%s.%s is not written", typ, f.Name)
			}
		}
	}
	if n != len(written) {
		t.Errorf("%d fields, %d written", n, len(written))
	}
}
