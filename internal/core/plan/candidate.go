package plan

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/starts"
	"berth/internal/core/timeline"
)

// Candidate is an allocation that could be requested: nodes of a free slot of an offer, for a wall time. Its fields
// are filled in step by step. Durations are in seconds, instants in seconds from now. The fields with a key are in
// the JSON of a plan, see reported.
type Candidate struct {
	// Found: the slot, and how many of its nodes the job can use.
	offer *offer
	timeline.Slot
	PerNode job.Resources `json:"per_node"`   // what each of these nodes would have
	Take    int           `json:"take_nodes"` // nodes that would be requested
	part    bool          // it takes fewer nodes of the slot than the job could use; they may be free before all of these are

	// Sized: the wall time, and what the batch system itself answered. +Inf stands for never.
	wall     float64       // wall time; +Inf: unlimited
	Wait     float64       `json:"wait_s"` // from now until it begins; null: never
	waits    *starts.Waits // until it begins beside the other chosen requests, in each draw; nil: it is the only one
	late     string        // the reason why it begins later than its slot, or empty
	rejected string        // the reason why it is infeasible, or empty

	// Evaluated: the job's runs on it.
	Total  float64 `json:"turnaround_s"` // wait, run time and loss by a short wall time; 0: unknown; null: never
	beaten bool    // Total is only a lower bound, which already exceeds another candidate's turnaround
	Risk   float64 `json:"timeout_share"` // fraction of runs for which the wall time is too short, 0 to 1
	likely float64 // when all but a few of the simulated runs have ended (the quantile of that name)
	done   float64 // when the last of the simulated runs ends
	main   bool    // it was chosen first, the others in addition

	// Reported: Total is 0, too, where there is no prediction.
	Time   time.Duration `json:"time_ns"` // wall time that would be requested; 0: unlimited
	Run    float64       `json:"run_s"`   // expected from then until the job is done; 0: no prediction; null: never
	Chosen bool          `json:"chosen"`  // the candidate is requested; several may be chosen
	Why    string        `json:"why"`     // why the candidate was rejected, or why it was chosen
}

// candidate returns the candidate of that many nodes of a free slot, without wall time and evaluation.
func (a *adaptor) candidate(o *offer, slot timeline.Slot, nodes int) Candidate {
	c := Candidate{offer: o, Slot: slot, PerNode: o.perNode, Take: nodes, Total: math.Inf(1)}
	c.Wait = a.waitAtLeast(&c)
	return c
}

// wallEnd returns when the wall time ends, in seconds from now.
func (c *Candidate) wallEnd() float64 { return c.Wait + c.wall }

// window returns the window that the allocation gives the job.
func (c *Candidate) window() predict.Window { return c.offer.window(c.Take, c.Wait, c.wallEnd()) }

// sameSlot reports whether two candidates use the same slot.
func (c *Candidate) sameSlot(d *Candidate) bool { return c.offer == d.offer && c.Slot == d.Slot }

// hourlyPrice returns the price of the nodes together for an hour.
func (c *Candidate) hourlyPrice() float64 { return c.offer.price * float64(c.Take) }

func total(c *Candidate) float64 { return c.Total }

// smallest returns at most that many of the candidates: those with the least keys, in the order of their keys and, among
// equal keys, in the given order. It sorts keys instead of the candidates, which are large and many.
func smallest(all []Candidate, most int, key func(*Candidate) float64) []Candidate {
	type ranked struct {
		key float64
		at  int
	}
	ranks := make([]ranked, len(all))
	for i := range all {
		ranks[i] = ranked{key(&all[i]), i}
	}
	slices.SortFunc(ranks, func(x, y ranked) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.at, y.at)) })
	out := make([]Candidate, min(most, len(all)))
	for i := range out {
		out[i] = all[ranks[i].at]
	}
	return out
}

// reported returns the fields of a candidate that are shown to users: rounded, and 0 where nothing is predicted.
func (c *Candidate) reported(chosen bool, why string) Candidate {
	t := Candidate{Slot: c.Slot, PerNode: c.PerNode, Take: c.Take, Time: limitDuration(c.wall), Wait: micros(c.Wait), Risk: c.Risk, Chosen: chosen, Why: why}
	if !math.IsInf(c.Total, 1) {
		t.Run, t.Total = micros(c.Total-c.Wait), micros(c.Total)
	}
	return t
}

// candidateJSON is the JSON form of a Candidate. null stands for a time without an end or an unknown instant: JSON
// has no infinite numbers, and programs would use the greatest integer as a time.
type candidateJSON struct {
	Start    *job.Time      `json:"start_ns"`
	Nodes    int            `json:"nodes"`
	Duration *time.Duration `json:"duration_ns"`
	Take     int            `json:"take_nodes"`
	PerNode  job.Resources  `json:"per_node"`
	Time     time.Duration  `json:"time_ns"`
	Wait     *float64       `json:"wait_s"`
	Run      *float64       `json:"run_s"`
	Total    *float64       `json:"turnaround_s"`
	Risk     float64        `json:"timeout_share"`
	Chosen   bool           `json:"chosen"`
	Why      string         `json:"why"`
}

// MarshalJSON writes the reported fields of the candidate.
func (c Candidate) MarshalJSON() ([]byte, error) {
	return json.Marshal(candidateJSON{
		Start: unless(timeline.Never, c.Start), Nodes: c.Nodes, Duration: unless(timeline.Unbounded, c.Duration),
		Take: c.Take, PerNode: c.PerNode, Time: c.Time,
		Wait: unless(math.Inf(1), c.Wait), Run: unless(math.Inf(1), c.Run), Total: unless(math.Inf(1), c.Total),
		Risk: c.Risk, Chosen: c.Chosen, Why: c.Why,
	})
}

// UnmarshalJSON reads the form that MarshalJSON writes.
func (c *Candidate) UnmarshalJSON(b []byte) error {
	var j candidateJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*c = Candidate{
		Slot: timeline.Slot{Start: orElse(j.Start, timeline.Never), Nodes: j.Nodes, Duration: orElse(j.Duration, timeline.Unbounded)},
		Take: j.Take, PerNode: j.PerNode, Time: j.Time,
		Wait: orElse(j.Wait, math.Inf(1)), Run: orElse(j.Run, math.Inf(1)), Total: orElse(j.Total, math.Inf(1)),
		Risk: j.Risk, Chosen: j.Chosen, Why: j.Why,
	}
	return nil
}

// unless returns a pointer to v, or nil (null in JSON) where v is the endless value.
func unless[T comparable](endless, v T) *T {
	if v == endless {
		return nil
	}
	return &v
}

// orElse is the inverse of unless.
func orElse[T any](v *T, endless T) T {
	if v == nil {
		return endless
	}
	return *v
}
