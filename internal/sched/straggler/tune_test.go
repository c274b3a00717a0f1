package straggler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"berth/internal/sched/straggler"
	"berth/internal/workload"
)

func TestTune(t *testing.T) {
	reps, _ := strconv.Atoi(os.Getenv("REPS"))
	if reps == 0 {
		t.Skip("tuning")
	}
	hangs, _ := strconv.ParseFloat(os.Getenv("HANGS"), 64)
	places := 1.2
	if p, err := strconv.ParseFloat(os.Getenv("PLACES"), 64); err == nil {
		places = p
	}
	for _, app := range workload.PacedApps() {
		for _, tasks := range []int{100, 1000} {
			if os.Getenv("SMALL") != "" && tasks > 100 {
				continue
			}
			p := 0.01
			if tasks == 1000 {
				p = 0.005
			}
			o := workload.Outliers{Probability: p, Task: app.Task, For: 20 * time.Minute, Least: 1.6, Mean: 2, Most: 4, Hangs: hangs}
			var base, cpu []float64
			for _, rule := range straggler.Rules() {
				mean, worst, extra, dups, wasted, aborts, ratio := 0.0, 0.0, 0.0, 0, 0, 0, 0.0
				var errs []float64
				for i := range reps {
					e := app.Draw(rand.New(rand.NewPCG(uint64(i), 7)), tasks)
					w := newWorld(rule, e, spellsOf(o, int(float64(tasks)*places), uint64(i)+1000))
					if os.Getenv("KNOWN") != "" {
						f := newWorld(straggler.Nothing{}, app.Draw(rand.New(rand.NewPCG(uint64(i), 77)), 8), make([]workload.Spells, 8))
						f.run()
						w.past.Earlier = f.past.Own
					}
					end := w.run().Sub(0).Seconds()
					mean += end / float64(reps)
					worst = max(worst, end)
					if rule.Name() == "nothing" {
						base, cpu = append(base, end), append(cpu, w.used)
					}
					extra += (w.used/cpu[i] - 1) / float64(reps)
					ratio = max(ratio, end/base[i])
					dups, wasted, aborts = dups+w.dups, wasted+w.wasted, aborts+w.aborts
					for _, x := range w.predicted {
						errs = append(errs, math.Abs(x))
					}
				}
				slices.Sort(errs)
				med, p95 := 0.0, 0.0
				if len(errs) > 0 {
					med, p95 = errs[len(errs)/2], errs[len(errs)*95/100]
				}
				fmt.Printf("%s %5d %-12s mean %6.1f worst %6.1f ratio %.3f extra %+.4f dups %.2f wasted %.2f aborts %.2f err %.3f %.3f\n", app.Name, tasks, rule.Name(), mean, worst, ratio, extra,
					float64(dups)/float64(reps), float64(wasted)/float64(reps), float64(aborts)/float64(reps), med, p95)
			}
		}
	}
}

func TestTrace(t *testing.T) {
	seed, err := strconv.Atoi(os.Getenv("SEED"))
	if err != nil {
		t.Skip("tuning")
	}
	for _, app := range workload.PacedApps() {
		o := workload.Outliers{Probability: 0.01, Task: app.Task, For: 20 * time.Minute, Least: 1.6, Mean: 2, Most: 4}
		e := app.Draw(rand.New(rand.NewPCG(uint64(seed), 7)), 100)
		w := newWorld(straggler.Berth{}, e, spellsOf(o, 120, uint64(seed)+1000))
		n := 0
		w.acts = func(v *straggler.View, d straggler.Verdict) {
			if n++; n > 12 {
				return
			}
			_, a := w.find(d.Attempt)
			now := w.now
			fmt.Printf("%s t=%.0f %v age %.0f %v %s: true speed %.2f, would end at %.0f; done %d\n", app.Name, now.Sub(0).Seconds(), d.Attempt, now.Sub(a.began).Seconds(), d.Class, d.Why,
				w.spells[a.node].Work(now-tick, now)/3, a.ends.Sub(0).Seconds(), w.past.Done)
		}
		fmt.Println(app.Name, "end", w.run().Sub(0).Seconds())
	}
}
