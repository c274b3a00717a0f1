package main

import (
	"encoding/json"
	"fmt"
	"math"
)

// outcome is the measurement of one strategy in one situation. Times are seconds since the job's
// submission.
type outcome struct {
	Situation  string       `json:"situation"`
	Strategy   string       `json:"strategy"`
	Nth        int          `json:"nth"`          // repetition, from 0
	Request    string       `json:"request"`      // the request that overrides berth's choice; empty: berth's own choice
	Turnaround float64      `json:"turnaround_s"` // measured by berth
	Wall       float64      `json:"wall_s"`       // of the command, measured by us
	Wait       float64      `json:"wait_s"`       // until the first nodes were available
	Run        float64      `json:"run_s"`        // from then on
	Used       float64      `json:"node_seconds"` // allocated; a part of a node counts in part
	Attempts   int          `json:"attempts"`     // number of started attempts
	Wasted     float64      `json:"wasted_s"`     // time of failed and lost attempts
	Allocs     []allocation `json:"allocations"`  // those that ran
	Fills      []allocation `json:"fills"`        // jobs of other users
	Decision   string       `json:"decision"`     // berth's own explanation
	Error      string       `json:"error"`        // the reason why there is no turnaround
	At         string       `json:"at"`           // when it was run
	Load       float64      `json:"load"`         // of the machine then, the average of a minute
	Predicted  *band        `json:"predicted"`    // of the start
	SameAs     string       `json:"same_as"`      // the strategy whose run it shares, because the requests are equal
}

// band is the start that berth predicted, in seconds since its plan.
type band struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Jobs   int     `json:"history_jobs"`
}

// whole is how far the start of an allocation that Slurm tells may lie beside that of a simulation: whole seconds, and its interval.
const whole = 3

// holds reports whether the allocation began in the band.
func (b *band) holds(start float64) bool { return start >= b.Low-whole && start <= b.High+whole }

// record is what berth prints for a job; docs/json.md.
type record struct {
	State     string  `json:"state"`
	Done      int     `json:"tasks_done"`
	Total     int     `json:"tasks_total"`
	Elapsed   float64 `json:"elapsed_s"`
	Decision  string  `json:"decision"`
	Reason    string  `json:"reason"`
	Wasted    float64 `json:"wasted_s"`
	Predicted *band   `json:"predicted_start"`
	Attempts  struct {
		Started int `json:"started"`
	} `json:"attempts"`
}

// slack is the longest time in seconds that a command may take beyond its job: to read the input,
// plan, start the coordinator, and print.
const slack = 10

// parse adds berth's output to the outcome.
func (o *outcome) parse(printed []byte) error {
	var r record
	if err := json.Unmarshal(printed, &r); err != nil {
		return fmt.Errorf("the output of berth cannot be parsed: %w: %q", err, printed)
	}
	o.Turnaround, o.Decision, o.Attempts, o.Wasted, o.Predicted = r.Elapsed, r.Decision, r.Attempts.Started, r.Wasted, r.Predicted
	switch {
	case r.State != "done" || r.Done != r.Total:
		return fmt.Errorf("the job is %s, %d of %d tasks are done: %s", r.State, r.Done, r.Total, r.Reason)
	case r.Elapsed > o.Wall || o.Wall > r.Elapsed+slack:
		return fmt.Errorf("berth reports %.1f s, but the command took %.1f s", r.Elapsed, o.Wall)
	}
	return nil
}

// account adds the batch system's records of the jobs to the outcome. begun is the time of submission in
// seconds since 1970.
func (o *outcome) account(fills, own []allocation, begun float64) {
	o.Wait, o.Used, o.Allocs, o.Fills = math.Inf(1), 0, []allocation{}, []allocation{}
	since := func(a allocation) allocation {
		if a.Start > 0 {
			a.Start = tenths(a.Start - begun)
		}
		if a.End > 0 {
			a.End = tenths(a.End - begun)
		}
		return a
	}
	for _, a := range own {
		if !a.begun() {
			continue
		}
		o.Used += (a.End - a.Start) * float64(a.CPUs) / cpusPerNode
		a = since(a)
		o.Wait = max(0, min(o.Wait, a.Start))
		o.Allocs = append(o.Allocs, a)
	}
	if len(o.Allocs) == 0 {
		o.Wait = 0
	}
	o.Run = tenths(max(0, o.Turnaround-o.Wait))
	for _, a := range fills {
		o.Fills = append(o.Fills, since(a))
	}
}

// disturbed returns an error if an allocation ended neither by berth nor at its limit. Then
// processes on the machine were killed, and the run is worthless.
func (o *outcome) disturbed() error {
	for _, a := range o.Allocs {
		switch a.State {
		case "COMPLETED", "CANCELLED", "TIMEOUT":
		default:
			return fmt.Errorf("allocation %s of %d nodes is %s", a.ID, a.Nodes, a.State)
		}
	}
	return nil
}

// shapes lists the allocations: "4n × 15 min + 8n × 3 min".
func (o *outcome) shapes() string {
	text := ""
	for i, a := range o.Allocs {
		if i > 0 {
			text += " + "
		}
		text += fmt.Sprintf("%dn × %s", a.Nodes, a.Limit)
	}
	return text
}
