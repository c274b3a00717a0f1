package evaluate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict/sample"
	"berth/lab/repeat"
)

// found has the paper's figures by load, case and measure (tables 2 and 3, turnarounds in seconds).
type found map[string]map[string]map[Measure]float64

var (
	utilization = Measure{Utilization, AllJobs}
	ofAll       = Measure{Turnaround, AllJobs}
	ofHPC       = Measure{Turnaround, HPCJobs}
	ofMR        = Measure{Turnaround, MRJobs}

	paperTable2 = found{
		OnlyHPC: {"": {utilization: 0.889, ofAll: 9126, ofHPC: 9126}},
		OnlyMR:  {NaiveCase: {utilization: 0.685, ofAll: 6151, ofMR: 6151}, PaperCase: {utilization: 0.937, ofAll: 3709, ofMR: 3709}},
		Mixed:   {NaiveCase: {utilization: 0.875, ofAll: 13680, ofMR: 31776}, PaperCase: {utilization: 0.933, ofAll: 11512, ofMR: 8616}},
	}
	paperTable3 = found{
		OnlyHPC: {"": {utilization: 0.525, ofAll: 16198, ofHPC: 16198}},
		OnlyMR:  {NaiveCase: {utilization: 0.834, ofAll: 22602, ofMR: 22602}, PaperCase: {utilization: 0.894, ofAll: 10269, ofMR: 10269}},
		Mixed:   {NaiveCase: {utilization: 0.563, ofAll: 99629}, PaperCase: {utilization: 0.684, ofAll: 19288}},
	}
)

// Table2 is the paper's table 2: an hour of HPC jobs, an hour of MapReduce jobs, and both, for each
// maximum wall time of the queue (0 for none).
func (s Settings) Table2(ctx context.Context, m Mix, maxTimes []time.Duration) (*Report, error) {
	return s.table(ctx, m, maxTimes, "table2", "Table 2: HPC jobs of a model, MapReduce jobs, and both", paperTable2)
}

// Table3 is the paper's table 3: as table 2, with the HPC jobs of a log.
func (s Settings) Table3(ctx context.Context, m Mix, maxTimes []time.Duration) (*Report, error) {
	return s.table(ctx, m, maxTimes, "table3", "Table 3: HPC jobs of a log, MapReduce jobs, and both", paperTable3)
}

func (s Settings) table(ctx context.Context, m Mix, maxTimes []time.Duration, name, title string, paper found) (*Report, error) {
	var studies []study
	for i, l := range []load{{OnlyHPC, &m.HPC, nil}, {OnlyMR, nil, &m.MR}, {Mixed, &m.HPC, &m.MR}} {
		for n, limit := range maxTimes {
			st := s.study(l, limit, m.Cases)
			st.paper = paper[l.name]
			if i == 0 { // HPC jobs do not depend on the maximum, which does not apply to them
				if n > 0 {
					continue
				}
				st.cases, st.exact = nothing, len(m.HPC.Trace) > 0
			}
			studies = append(studies, st)
		}
	}
	return s.report(ctx, studies, &Report{Experiment: name, Workload: []string{m.HPC.text(), m.MR.text()}, title: title, Cases: m.Cases})
}

// nothing is the case without MapReduce jobs.
var nothing = []Case{{Adaptor: Cases()[0].Adaptor}}

// study returns the study of a load.
func (s *Settings) study(l load, limit time.Duration, cases []Case) study {
	return study{load: l.name, maxTime: limit, cases: cases, wanted: l.wanted(), kept: l.kept(), draw: l.drawn(s.Seed, s.Nodes)}
}

// report runs the studies and completes the report.
func (s *Settings) report(ctx context.Context, studies []study, r *Report) (*Report, error) {
	if err := s.check(studies); err != nil {
		return nil, err
	}
	cells, err := s.run(ctx, studies)
	if err != nil {
		return nil, err
	}
	r.Nodes, r.Policy, r.Seed, r.Precision, r.Confidence = s.Nodes, string(s.Policy), s.Seed, s.Precision, sample.Confidence
	r.ControlVariates, r.Cells = s.controlled(), cells
	return r, nil
}

// check returns an error for invalid settings.
func (s *Settings) check(studies []study) error {
	switch {
	case s.Nodes < 1:
		return job.ConfigError("--nodes", fmt.Sprintf("a cluster cannot have %d nodes", s.Nodes), "give at least 1")
	case !(s.Precision > 0 && s.Precision < 1):
		return job.ConfigError("--precision", fmt.Sprintf("%g is not a fraction between 0 and 1", s.Precision), "write 0.05 for 5 %")
	case s.Limits.Min < repeat.Min:
		return job.ConfigError("--min-replications", fmt.Sprintf("%d replications are too few to estimate a variance", s.Limits.Min), fmt.Sprintf("give at least %d", repeat.Min))
	case s.Limits.Max < s.Limits.Min:
		return job.ConfigError("--max-replications", fmt.Sprintf("%d is less than --min-replications, which is %d", s.Limits.Max, s.Limits.Min), "increase it")
	case s.Limits.Workers < 1:
		return job.ConfigError("--jobs", fmt.Sprintf("%d simultaneous replications are not possible", s.Limits.Workers), "give at least 1")
	}
	for _, st := range studies {
		if err := st.fits(); err != nil {
			return err
		}
	}
	return nil
}

// fits returns an error, before anything is simulated, if the queue's maximum is too short for a
// task of the first replication.
func (st *study) fits() error {
	if st.maxTime < 0 {
		return job.ConfigError("--max-time", "the time is negative", "give a positive time")
	}
	_, elastic := st.draw("", 0)
	longest := time.Duration(0)
	for i := range elastic {
		for _, d := range slices.Concat(elastic[i].Maps, elastic[i].Reduces) {
			longest = max(longest, d)
		}
	}
	if st.maxTime > 0 && longest > st.maxTime {
		return job.ConfigError("--max-time", fmt.Sprintf("the queue accepts wall times of up to %v, but one of the tasks takes %v", st.maxTime, longest), "allow more time")
	}
	return nil
}
