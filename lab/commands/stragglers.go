package commands

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"berth/internal/command/simulation"
	"berth/internal/core/job"
	"berth/internal/core/sched/straggler"
	"berth/internal/show/ui"
	"berth/lab/evaluate"
	"berth/lab/loads"
	"berth/lab/rules"
)

// Stragglers are the options of berth-lab stragglers.
type Stragglers struct {
	study                                 evaluate.StragglerStudy
	jobs, tasks, rules, place, extra, out string
}

// Register adds the flags to a command's.
func (s *Stragglers) Register(f *pflag.FlagSet) {
	f.StringVar(&s.jobs, "job", "", "jobs, with commas (default all: "+strings.Join(pacedNames(), ",")+")")
	f.StringVar(&s.tasks, "tasks", "100,1000", "numbers of tasks of a job, with commas")
	f.StringVar(&s.rules, "rule", "", "rules, with commas, the paper's also with a threshold T, as in paper:0.2 (default all: "+strings.Join(rules.Names(rules.All()), ",")+")")
	f.StringVar(&s.place, "place", "cluster", "kind of cluster: cluster, cloud, hangs, where slow nodes hang, narrow, with nodes for a quarter of the tasks, or known, with an earlier run")
	f.StringVar(&s.extra, "speculation", "5%", "limit of the extra processor time of duplicates under berth's rule")
	f.IntVar(&s.study.Replications, "replications", 100, "number of simulations of each job, each with other tasks and slow nodes")
	f.Uint64Var(&s.study.Seed, "seed", 1, "seed of all random numbers")
	f.IntVar(&s.study.Workers, "jobs", 0, "simultaneous simulations (default: one for each processor)")
	f.StringVar(&s.out, "out", "", "write everything to this folder, as stragglers.txt, stragglers.json and stragglers.md")
}

func pacedNames() (names []string) {
	for _, a := range loads.PacedApps() {
		names = append(names, a.Name)
	}
	return names
}

// mostTasks limits what a typing error may request.
const mostTasks = 100_000

// read checks the flags.
func (s *Stragglers) read() (err error) {
	if s.study.Apps, err = s.apps(); err != nil {
		return err
	}
	s.study.Tasks, err = list("--tasks", s.tasks, func(flag, part string) (int, error) {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > mostTasks {
			return 0, job.ConfigError(flag, fmt.Sprintf("%q is not a number from 1 to %d", part, mostTasks), "")
		}
		return n, nil
	})
	if err != nil {
		return err
	}
	if err = s.chosen(); err != nil {
		return err
	}
	if s.study.Place, err = evaluate.ParseStragglerPlace("--place", s.place); err != nil {
		return err
	}
	if s.study.Speculation, err = share("--speculation", s.extra); err != nil {
		return err
	}
	if s.study.Replications < 1 || s.study.Replications > mostReplications {
		return job.ConfigError("--replications", fmt.Sprintf("%d is not from 1 to %d", s.study.Replications, mostReplications), "")
	}
	if s.study.Workers < 0 {
		return job.ConfigError("--jobs", fmt.Sprintf("%d is below 0", s.study.Workers), "")
	}
	if s.study.Workers == 0 {
		s.study.Workers = runtime.GOMAXPROCS(0)
	}
	return simulation.WritableFolder(s.out)
}

// share parses a percentage such as 5%.
func share(flag, text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, job.ConfigError(flag, fmt.Sprintf("%q is not a fraction above 0%% and up to 100%%", text), "write 5%")
	}
	return v, nil
}

// apps returns the selected jobs.
func (s *Stragglers) apps() ([]loads.PacedApp, error) {
	all := loads.PacedApps()
	if s.jobs == "" {
		return all, nil
	}
	return list("--job", s.jobs, func(flag, part string) (loads.PacedApp, error) {
		i := slices.Index(pacedNames(), strings.TrimSpace(part))
		if i < 0 {
			return loads.PacedApp{}, job.ConfigError(flag, fmt.Sprintf("there is no job %q", part), "use some of "+strings.Join(pacedNames(), ", "))
		}
		return all[i], nil
	})
}

// chosen finds the selected rules.
func (s *Stragglers) chosen() (err error) {
	s.study.Rules = rules.All()
	if s.rules != "" {
		s.study.Rules, err = list("--rule", s.rules, func(flag, part string) (straggler.Rule, error) {
			return straggler.RuleNamed(flag, strings.TrimSpace(part), rules.All())
		})
	}
	return err
}

// Run simulates and writes the results.
func (s *Stragglers) Run(ctx context.Context, c simulation.Console) error {
	if err := s.read(); err != nil {
		return err
	}
	var r *evaluate.StragglerReport
	err := c.Simulate(ctx, func(ctx context.Context, meter *ui.Meter) (err error) {
		s.study.Tell = func(done, all int) { meter.Set(float64(done)/float64(all), fmt.Sprintf("%d of %d runs", done, all)) }
		r, err = s.study.Run(ctx)
		return err
	})
	if err != nil {
		return err
	}
	var files []simulation.Output
	if s.out != "" {
		files = append(simulation.ReportFiles(filepath.Join(s.out, "stragglers"), r), simulation.Output{Path: filepath.Join(s.out, "stragglers.md"), Write: r.Markdown})
	}
	return c.Print(ctx, r, s.out, files)
}
