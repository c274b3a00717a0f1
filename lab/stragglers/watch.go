package main

import (
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// view is the part of a job's record that is read; docs/json.md.
type view struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	At       time.Time `json:"at"`
	Wasted   float64   `json:"wasted_s"`
	Total    int       `json:"tasks_total"`
	Attempts struct {
		Started int `json:"started"`
		Done    int `json:"done"`
		Killed  int `json:"killed"`
		Failed  int `json:"failed"`
		Lost    int `json:"lost"`
	} `json:"attempts"`
	Running []struct {
		Task    int       `json:"task"`
		Attempt int       `json:"attempt"`
		Node    string    `json:"node"`
		Seconds float64   `json:"seconds"`
		Source  string    `json:"source"`
		End     time.Time `json:"end_expected"`
	} `json:"running"`
	Rows []row `json:"rows"` // of berth report --tasks
}

// row is an attempt that has ended.
type row struct {
	Task    int       `json:"task"`
	Attempt int       `json:"attempt"`
	Outcome string    `json:"outcome"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
}

// guess is a prediction of the end of a running attempt.
type guess struct {
	task, attempt int
	ran           float64 // seconds until the prediction
	source        string
	end           time.Time
	node          string
}

// watch polls berth's predictions for the running attempts of the operation, and slows their nodes
// at the right time, until ctx ends.
func (s *server) watch(ctx context.Context, slow []episode) (all []guess) {
	for {
		select {
		case <-ctx.Done():
			return all
		case <-time.After(time.Second):
		}
		v, err := s.operation(ctx)
		if err != nil {
			continue // it has not begun
		}
		s.groups.slowDown(&v, slow)
		for _, r := range v.Running {
			if !r.End.IsZero() {
				all = append(all, guess{r.Task, r.Attempt, r.Seconds, r.Source, r.End, r.Node})
			}
		}
	}
}

// operation returns the record of the measured stage: the last job of that name.
func (s *server) operation(ctx context.Context) (v view, err error) {
	var list struct {
		Jobs []view `json:"jobs"`
	}
	if err := s.ask(ctx, &list, "status", "--all", "--json"); err != nil {
		return v, err
	}
	for _, j := range slices.Backward(list.Jobs) {
		if strings.HasSuffix(j.Name, ": operation") {
			return v, s.ask(ctx, &v, "progress", j.ID, "--json")
		}
	}
	return v, exec.ErrNotFound
}

func (s *server) ask(ctx context.Context, to any, args ...string) error {
	out, err := s.command(ctx, s.berth, args...).Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(out, to)
}

// prediction is the predicted end of an attempt at half of its time, compared with the real end.
type prediction struct {
	Took   float64 `json:"took_s"`
	Off    float64 `json:"off"` // as a fraction of the attempt's time: 0.1 is 10 % too late
	Source string  `json:"source"`
	// Changed: its node became slow afterwards, which no prediction can include.
	Changed bool `json:"changed"`
}

// atHalf returns for each successful attempt the prediction closest to half of its run. There is
// none for short attempts.
func atHalf(all []guess, rows []row, slow []episode) (found []prediction) {
	for _, r := range rows {
		took := r.Ended.Sub(r.Started).Seconds()
		best := -1
		for i, g := range all {
			if g.task == r.Task && g.attempt == r.Attempt && (best < 0 || math.Abs(g.ran-took/2) < math.Abs(all[best].ran-took/2)) {
				best = i
			}
		}
		if r.Outcome == "done" && best >= 0 && math.Abs(all[best].ran-took/2) < took/10 {
			g := &all[best]
			told := r.Started.Add(time.Duration(g.ran * float64(time.Second)))
			found = append(found, prediction{took, g.end.Sub(r.Ended).Seconds() / took, g.source, changed(slow, g.node, told)})
		}
	}
	return found
}
