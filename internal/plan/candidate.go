package plan

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"berth/internal/job"
	"berth/internal/predict"
	"berth/internal/timeline"
)

// Candidate is an allocation that could be asked for: nodes of a free slot of an offer, for a
// time. Weighing fills it in from stage to stage. Numbers are seconds, those of instants from now.
// What has a key is in the JSON of a plan, see told.
type Candidate struct {
	// Found: where, and how many nodes are of use.
	offer *offer
	timeline.Slot
	PerNode job.Resources `json:"per_node"`
	Take    int           `json:"take_nodes"` // nodes that would be asked for

	// Sized: for how long, and what the batch system says of that.
	wall     float64 // wall time; +Inf: unlimited
	Wait     float64 `json:"wait_s"` // until it begins; +Inf: that is not in sight
	late     string  // who says that it begins later than its slot, and by how much; empty: nobody
	rejected string  // the reason why it is not to be had, or empty

	// Weighed: what the job would make of it.
	Total  float64 `json:"turnaround_s"` // expected; +Inf: never done
	beaten bool    // Total is only a bound from below: it is later than another, which is enough to know
	Risk   float64 `json:"timeout_share"` // fraction of runs that need more than its time, 0…1
	done   float64 // when the last of the simulated runs is done
	main   bool    // it was chosen first, the others beside it

	// Told: Total is 0, too, where there is no prediction.
	Time   time.Duration `json:"time_ns"` // the wall time; 0: unlimited
	Run    float64       `json:"run_s"`   // Total without Wait; 0: no prediction
	Chosen bool          `json:"chosen"`
	Why    string        `json:"why"` // why it lost, or what it was chosen for
}

// candidate returns nodes of a free slot, of which no more is known.
func (a *adaptor) candidate(o *offer, slot timeline.Slot, nodes int) Candidate {
	return Candidate{offer: o, Slot: slot, PerNode: o.perNode, Take: nodes, Wait: a.seconds(slot.Start), Total: math.Inf(1)}
}

// end returns when the wall time is over, in seconds from now.
func (c *Candidate) end() float64 { return c.Wait + c.wall }

// window returns what the allocation is to the job.
func (c *Candidate) window() predict.Window { return c.offer.window(c.Take, c.Wait, c.end()) }

// sameSlot reports whether two candidates are of the same slot.
func (c *Candidate) sameSlot(d *Candidate) bool { return c.offer == d.offer && c.Slot == d.Slot }

// rate returns what the nodes cost together in an hour.
func (c *Candidate) rate() float64 { return c.offer.price * float64(c.Take) }

func total(c *Candidate) float64 { return c.Total }

// least returns so many of the candidates at most, those with the least keys in that order; of equal
// keys the first. Keys are sorted and not the candidates, which are large and many.
func least(all []Candidate, most int, key func(*Candidate) float64) []Candidate {
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

// told returns what is told of a candidate: rounded, without the means by which it was weighed,
// and 0 where nothing is predicted.
func (c *Candidate) told(chosen bool, why string) Candidate {
	t := Candidate{Slot: c.Slot, PerNode: c.PerNode, Take: c.Take, Time: limitDuration(c.wall), Wait: micros(c.Wait), Risk: c.Risk, Chosen: chosen, Why: why}
	if !math.IsInf(c.Total, 1) {
		t.Run, t.Total = micros(c.Total-c.Wait), micros(c.Total)
	}
	return t
}

// candidateJSON is a Candidate as JSON has it: null stands for what has no end or never comes, as
// programs would take the greatest integer for a time, and JSON has no infinite numbers.
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

// MarshalJSON writes what is told of the candidate.
func (c Candidate) MarshalJSON() ([]byte, error) {
	return json.Marshal(candidateJSON{
		Start: unless(timeline.Never, c.Start), Nodes: c.Nodes, Duration: unless(timeline.Unbounded, c.Duration),
		Take: c.Take, PerNode: c.PerNode, Time: c.Time,
		Wait: unless(math.Inf(1), c.Wait), Run: unless(math.Inf(1), c.Run), Total: unless(math.Inf(1), c.Total),
		Risk: c.Risk, Chosen: c.Chosen, Why: c.Why,
	})
}

// UnmarshalJSON reads what MarshalJSON writes.
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

// unless returns a pointer to a value, which is nil, and null in JSON, where the value is the endless one.
func unless[T comparable](endless, v T) *T {
	if v == endless {
		return nil
	}
	return &v
}

// orElse undoes unless.
func orElse[T any](v *T, endless T) T {
	if v == nil {
		return endless
	}
	return *v
}
