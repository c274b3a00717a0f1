package plan

import (
	"encoding/json"
	"math"
	"time"

	"berth/internal/job"
	"berth/internal/timeline"
)

// candidateJSON is a Candidate as JSON has it, flat. It is spelled out because the
// slot's own MarshalJSON would otherwise be taken for the candidate's. null stands for
// what has no end, and for seconds that are no number.
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

// MarshalJSON writes the candidate with the keys of its slot beside its own.
func (c Candidate) MarshalJSON() ([]byte, error) {
	return json.Marshal(candidateJSON{
		Start: timeline.TimeOrNull(c.Start), Nodes: c.Nodes, Duration: timeline.DurationOrNull(c.Duration),
		Take: c.Take, PerNode: c.PerNode, Time: c.Time,
		Wait: finite(c.Wait), Run: finite(c.Run), Total: finite(c.Total), Risk: c.Risk, Chosen: c.Chosen, Why: c.Why,
	})
}

// UnmarshalJSON reads what MarshalJSON writes; seconds that are null become infinite.
func (c *Candidate) UnmarshalJSON(b []byte) error {
	var j candidateJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	*c = Candidate{
		Slot: timeline.Slot{Start: timeline.NullTime(j.Start), Nodes: j.Nodes, Duration: timeline.NullDuration(j.Duration)},
		Take: j.Take, PerNode: j.PerNode, Time: j.Time,
		Wait: orInfinite(j.Wait), Run: orInfinite(j.Run), Total: orInfinite(j.Total), Risk: j.Risk, Chosen: j.Chosen, Why: j.Why,
	}
	return nil
}

// finite returns nil, which JSON writes as null, for what is no number of seconds.
func finite(seconds float64) *float64 {
	if math.IsInf(seconds, 0) || math.IsNaN(seconds) {
		return nil
	}
	return &seconds
}

func orInfinite(seconds *float64) float64 {
	if seconds == nil {
		return math.Inf(1)
	}
	return *seconds
}
