package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"berth/lab/rented"
)

// results are all measurements of a turn.
type results struct {
	Kinds  []kind  `json:"kinds"`
	Server float64 `json:"server"` // bytes/s that the data server moved for all machines together, as measured; see also the constant
	Input  float64 `json:"input"`  // mean bytes of a task
	Output float64 `json:"output"`
	Trials []trial `json:"trials"`
	Points []trial `json:"points"` // of the front
}

// trial is one bag on one configuration.
type trial struct {
	Machines  string  `json:"machines"`
	Tasks     int     `json:"tasks"`
	Predicted float64 `json:"predicted_s"`
	Low       float64 `json:"low_s"`
	Up        float64 `json:"up_s"`
	Simple    float64 `json:"simple_s"` // tasks · time / machines: as if the data server had no limit
	Use       float64 `json:"server_use"`
	Measured  float64 `json:"measured_s"`
	Cost      float64 `json:"cost_predicted"`
	Paid      float64 `json:"cost_measured"` // of the measured time, by the rule of the catalogue

	counts []int
}

// off is the relative error of a prediction.
func (t *trial) off(predicted float64) float64 { return predicted/t.Measured - 1 }

// configurations are the numbers of machines of each kind in the runs.
func (b *bench) configurations() [][]int {
	if !b.quick {
		return [][]int{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {2, 1, 0}, {1, 1, 1}, {0, 0, 3}, {2, 2, 1}, {0, 3, 2}, {4, 3, 0}, {4, 3, 3}}
	}
	one, each := make([]int, len(b.kinds)), make([]int, len(b.kinds))
	for i := range each {
		each[i] = 1
	}
	one[0] = 1
	return [][]int{one, each}
}

// experiment measures the machines, and compares predictions with runs.
func (b *bench) experiment(ctx context.Context) (*results, error) {
	res := &results{}
	if err := b.calibrate(ctx, res); err != nil {
		return nil, err
	}
	res.Kinds = b.kinds
	if err := b.catalogue(res); err != nil {
		return nil, err
	}
	for _, counts := range b.configurations() {
		t, err := b.try(ctx, res, counts, 0)
		if err != nil {
			return nil, err
		}
		res.Trials = append(res.Trials, t)
	}
	points, tasks, err := b.points(ctx, res)
	if err != nil {
		return nil, err
	}
	for _, counts := range points {
		t, err := b.try(ctx, res, counts, tasks)
		if err != nil {
			return nil, err
		}
		res.Points = append(res.Points, t)
	}
	return res, nil
}

// calibrate measures the task time of each kind of machine alone, and the rates of links and data
// server.
func (b *bench) calibrate(ctx context.Context, res *results) error {
	fastest := make([]int, len(b.kinds)) // their links have a higher total rate than the data server, so that no machine is slower at the end
	fastest[len(b.kinds)-1] = b.kinds[len(b.kinds)-1].Limit
	var err error
	if res.Server, err = b.rate(ctx, fastest); err != nil {
		return err
	}
	for i := range b.kinds {
		one := make([]int, len(b.kinds))
		one[i] = 1
		rate, err := b.rate(ctx, one)
		if err != nil {
			return err
		}
		b.kinds[i].Rate = int64(rate)
		if err := b.calibrateKind(ctx, res, &b.kinds[i], one); err != nil {
			return err
		}
	}
	return nil
}

// calibrateKind runs some tasks on one machine. The time to transfer their data at the link's rate
// does not count as computing.
func (b *bench) calibrateKind(ctx context.Context, res *results, k *kind, one []int) error {
	const tasks = 12
	v, err := b.convert(ctx, one, tasks)
	if err != nil {
		return err
	}
	var first, last time.Time
	var sum, squares float64
	for _, r := range v.Rows {
		if first.IsZero() || r.Started.Before(first) {
			first = r.Started
		}
		if r.Ended.After(last) {
			last = r.Ended
		}
		s := r.Ended.Sub(r.Started).Seconds()
		sum, squares = sum+s, squares+s*s
	}
	mean := sum / tasks
	res.Input, res.Output = b.input, b.output
	k.Boot = first.Sub(v.Submitted).Seconds()
	k.Task = last.Sub(first).Seconds()/tasks - (res.Input+res.Output)/float64(k.Rate)
	k.Spread = math.Sqrt(max(0, squares/tasks-mean*mean)) / mean
	return nil
}

// rate returns the total bytes/s that machines receive from this one, from the first byte to the
// last.
func (b *bench) rate(ctx context.Context, counts []int) (float64, error) {
	var hosts []string
	total := int64(0)
	for i, k := range b.kinds {
		for n := range counts[i] {
			hosts = append(hosts, k.host(n))
			total += k.Rate
		}
	}
	const seconds = 5
	each := seconds * min(total, server) / int64(len(hosts))
	type span struct {
		first, last float64
		err         error
	}
	spans := make(chan span, len(hosts))
	for _, host := range hosts {
		go func() {
			script := fmt.Sprintf("head -c %d /dev/zero | %s %s 'head -c 1 >/dev/null; date +%%s.%%N; cat >/dev/null; date +%%s.%%N'", each, b.fleet.Command, host)
			out, err := exec.CommandContext(ctx, "/bin/sh", "-c", script).CombinedOutput()
			s := span{err: err}
			if _, scanErr := fmt.Sscan(string(out), &s.first, &s.last); scanErr != nil || err != nil {
				s.err = fmt.Errorf("%s: %w: %s", script, errors.Join(err, scanErr), out)
			}
			spans <- s
		}()
	}
	first, last, err := math.Inf(1), 0.0, error(nil)
	for range hosts {
		s := <-spans
		first, last, err = min(first, s.first), max(last, s.last), errors.Join(err, s.err)
	}
	return float64(each) * float64(len(hosts)) / (last - first), err
}

// catalogue writes the measurements as a catalogue for berth front.
func (b *bench) catalogue(res *results) error {
	var text strings.Builder
	for _, k := range b.kinds {
		fmt.Fprintf(&text, "[[type]]\nname = %q\nprice = %g\nunit = \"%ds\"\nboot = \"%.3fs\"\ntask_time = \"%.4fs\"\nrate = %d\nlimit = %d\n", k.Name, k.Price, unit, k.Boot, k.Task, k.Rate, k.Limit)
	}
	return os.WriteFile(b.types(), []byte(text.String()), 0o600)
}

func (b *bench) types() string { return filepath.Join(b.dir, "types.toml") }

// drawn is the part of a front that is read; docs/json.md.
type drawn struct {
	Tipping int `json:"tipping"`
	Front   []struct {
		Cost     float64        `json:"cost"`
		Makespan float64        `json:"makespan_s"`
		Low      float64        `json:"low_s"`
		Up       float64        `json:"up_s"`
		Simple   float64        `json:"simple_s"`
		Use      float64        `json:"server_use"`
		Rate     float64        `json:"tasks_per_s"`
		Machines map[string]int `json:"machines"`
	} `json:"front"`
}

// front runs berth front for a bag.
func (b *bench) front(ctx context.Context, res *results, tasks int, further ...string) (d drawn, err error) {
	spread := 0.0
	for _, k := range b.kinds {
		spread += k.Spread / float64(len(b.kinds))
	}
	return d, b.ask(ctx, &d, append([]string{"front", "--tasks", fmt.Sprint(tasks), "--input", fmt.Sprintf("%.0f", res.Input), "--output", fmt.Sprintf("%.0f", res.Output),
		"--server", fmt.Sprintf("%.0f", res.Server), "--spread", fmt.Sprintf("%.3f", spread), "--catalogue", b.types()}, further...)...)
}

// try predicts a bag and runs it. Without a number of tasks, the number is chosen for a run of the
// desired length.
func (b *bench) try(ctx context.Context, res *results, counts []int, tasks int) (t trial, err error) {
	only := []string{"--only", b.name(counts)}
	if tasks == 0 {
		d, err := b.front(ctx, res, 100, only...)
		if err != nil {
			return t, err
		}
		tasks = max(10, int(b.seconds*d.Front[0].Rate))
	}
	d, err := b.front(ctx, res, tasks, only...)
	if err != nil {
		return t, err
	}
	p := d.Front[0]
	t = trial{Machines: b.name(counts), Tasks: tasks, Predicted: p.Makespan, Low: p.Low, Up: p.Up, Simple: p.Simple, Use: p.Use, Cost: p.Cost, counts: counts}
	v, err := b.convert(ctx, counts, tasks)
	if err != nil {
		return t, err
	}
	t.Measured = v.makespan()
	for i, k := range b.kinds {
		t.Paid += float64(counts[i]) * k.Price / 3600 * unit * math.Ceil(t.Measured/unit)
	}
	fmt.Fprintf(os.Stderr, "%s: %d tasks, predicted %.1f s, measured %.1f s\n", t.Machines, t.Tasks, t.Predicted, t.Measured)
	return t, nil
}

// points returns four choices of the front of one bag, from the cheapest to the tipping point, as the paper took them.
func (b *bench) points(ctx context.Context, res *results) (all [][]int, tasks int, err error) {
	wanted := 4
	if b.quick {
		wanted = 2
	}
	for i := range b.kinds {
		if b.kinds[i].Limit > 1 {
			tasks += 20
		} else {
			tasks += 6
		}
	}
	d, err := b.front(ctx, res, tasks)
	if err != nil {
		return nil, 0, err
	}
	var costs []float64
	for _, p := range d.Front {
		costs = append(costs, p.Cost)
	}
	for _, i := range rented.Spaced(costs, d.Tipping, wanted) {
		p := d.Front[i]
		counts := make([]int, len(b.kinds))
		for j, k := range b.kinds {
			counts[j] = p.Machines[k.Name]
		}
		all = append(all, counts)
	}
	return all, tasks, nil
}
