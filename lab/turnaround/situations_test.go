package main

import (
	"math"
	"strings"
	"testing"
)

// TestScript checks that the situations are consistent, numerous and different.
func TestScript(t *testing.T) {
	seen, fresh := map[string]bool{}, 0
	for i := range script {
		s := &script[i]
		if seen[s.name] {
			t.Errorf("%s is there twice", s.name)
		}
		seen[s.name] = true
		if s.fresh {
			fresh++
		}
		checkSituation(t, s)
	}
	if len(script) < 20 || fresh == 0 || fresh > len(script)/4 {
		t.Errorf("%d situations, %d with an unknown application", len(script), fresh)
	}
}

// TestDrawn: situations are the same for the same seed and differ between seeds, fit the cluster, and have the history of an hour.
func TestDrawn(t *testing.T) {
	all, again, others := drawn(1, 60, 3), drawn(1, 60, 3), drawn(2, 60, 3)
	equal, fresh, waiting := 0, 0, 0
	for i := range all {
		s := &all[i]
		checkSituation(t, s)
		if len(s.past) < 20 {
			t.Errorf("%s: %d jobs ended before", s.name, len(s.past))
		}
		if s.running != again[i].running || s.waiting != again[i].waiting || s.later != again[i].later || s.job != again[i].job {
			t.Errorf("%s is drawn in two ways", s.name)
		}
		if s.running == others[i].running && s.running != "" {
			equal++
		}
		if s.fresh {
			fresh++
		}
		if s.waiting != "" {
			waiting++
		}
	}
	if equal > 2 || fresh == 0 || fresh > 20 || waiting < 20 {
		t.Errorf("%d equal to those of another seed, %d with an unknown application, in %d jobs wait", equal, fresh, waiting)
	}
}

func checkSituation(t *testing.T, s *situation) {
	t.Helper()
	running, waiting, later, err := s.fills()
	if err != nil {
		t.Error(err)
		return
	}
	held := 0
	for _, f := range running {
		held += f.copies * f.nodes * f.cpus
		if f.real <= planTime {
			t.Errorf("%s: a running job is over before the job under test comes", s.name)
		}
	}
	if free := (clusterNodes-s.drained)*cpusPerNode - held; free < 0 {
		t.Errorf("%s: running jobs need %d CPUs more than there are", s.name, -free)
	}
	last := planTime * 0
	for _, f := range append(append(running, waiting...), later...) {
		if f.at < last {
			t.Errorf("%s: jobs are not in the order they come in", s.name)
		}
		last = f.at
	}
	for _, f := range append(running, waiting...) {
		if f.at != 0 {
			t.Errorf("%s: a job that is there before comes later", s.name)
		}
	}
}

func TestDurations(t *testing.T) {
	for _, w := range []*workload{wideBag, midBag, little, skewBag, longBag, midMR, wideMR, longMR} {
		run, earlier := w.durations(seedRun), w.durations(seedEarlier)
		if len(run) != len(earlier) || len(run) != w.tasks() {
			t.Errorf("%s: %d and %d tasks", w.name, len(run), len(earlier))
		}
		same := true
		for i, d := range run {
			same = same && d == earlier[i]
			if d != math.Round(d*10)/10 || d <= 0 || d > 90 || d > w.longest() {
				t.Errorf("%s: task %d takes %v s", w.name, i, d)
			}
		}
		if same {
			t.Errorf("%s: the earlier run was on the same data", w.name)
		}
	}
}

func TestStrategies(t *testing.T) {
	half := &situation{name: "half", job: midBag}
	few := &situation{name: "few", job: &workload{draw: even(4, 50, 50), reduces: 2, reduceTo: 60}, drained: 1}
	short := &situation{name: "short", job: midBag, short: true}
	for _, tt := range []struct {
		s        *situation
		strategy string
		want     string
	}{
		{half, "a", "8n × 15 min"}, {half, "b", "1n × 15 min"}, {half, "c", "8n × 15 min"}, {half, "d", "8n × 1 min"},
		{few, "a", "7n × 15 min"}, {few, "c", "4n × 15 min"}, {few, "d", "6n × 2 min"},
		{short, "a", "4n × 3 min"}, {short, "d", "4n × 1 min"}, {half, ours, ""},
	} {
		for _, st := range strategies {
			if got := st.request(tt.s); st.name == tt.strategy && got != tt.want {
				t.Errorf("%s in %s: %q, want %q", tt.strategy, tt.s.name, got, tt.want)
			}
		}
	}
	want := "--on slurm --partition short --nodes 4-4 --time 3 --wall-time max --max-allocs 1 --no-scout --exclusive"
	if got := strings.Join(strategies[1].flags(&slurm, short), " "); got != want {
		t.Errorf("flags %s, want %s", got, want)
	}
	if got := strings.Join(strategies[0].flags(&slurm, half), " "); got != "--on slurm" {
		t.Errorf("berth is told %s", got)
	}
}

func TestUnknowing(t *testing.T) {
	fresh := &situation{name: "new", job: midBag, fresh: true}
	var todo []trial
	for _, s := range []*situation{fresh, {name: "old", job: little}} {
		todo = append(todo, trial{s: s, st: &strategies[0]})
	}
	if jobs := known(todo); len(jobs) != 1 || jobs[0] != little {
		t.Errorf("berth knows %v", jobs)
	}
	if jobs := known([]trial{{s: fresh, st: &strategies[1]}}); len(jobs) != 1 {
		t.Error("a habit is forced on a berth that does not know the application")
	}
}

// TestTrials checks that strategies with the same request share a run, and that berth's choice never
// shares one.
func TestTrials(t *testing.T) {
	s := &situation{name: "x", job: midBag}
	todo := trialsOf(s, []string{ours, "a", "b", "c", "d", "N×1", "torc"}, 0)
	var got []string
	for _, tr := range todo {
		text := tr.st.name
		for _, st := range tr.same {
			text += "=" + st.name
		}
		got = append(got, text)
	}
	if text := strings.Join(got, " "); text != "berth a=c b d N×1 torc" {
		t.Errorf("runs %s", text)
	}
	all := todo[1].outcomes(outcome{Strategy: "a", Turnaround: 5})
	if len(all) != 2 || all[1].Strategy != "c" || all[1].SameAs != "a" || all[1].Turnaround != 5 {
		t.Errorf("outcomes %+v", all)
	}
}
