package plan

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/core/timeline"
)

// mixBins is the Facebook mix (models.md, "Workloads of simulations"): maps, reduces, weight.
var mixBins = [][3]int{{1, 0, 39}, {2, 0, 16}, {10, 3, 14}, {50, 0, 9}, {100, 0, 6}, {200, 50, 6}, {400, 0, 4}, {800, 180, 4}, {2400, 0, 3}}

// mixQueue is 128 nodes of one core on which jobs run and for which so many wait, all of
// them with reservations, as conservative backfilling has them.
func mixQueue(waiting int, rng *rand.Rand) cluster.Snapshot {
	const nodes = 128
	has := job.Resources{CPUs: 1}
	q := &cluster.Queue{User: "me", Grain: time.Second}
	part := cluster.Partition{Name: "sim", Default: true, MaxTime: 18 * time.Hour, Whole: true}
	snap := cluster.Snapshot{Driver: "sim", At: begin, Queue: q}
	for i := range nodes {
		part.Nodes = append(part.Nodes, i)
		snap.Nodes = append(snap.Nodes, cluster.Node{Name: fmt.Sprint("n", i), Capacity: has, Free: has})
	}
	q.Partitions = []cluster.Partition{part}
	line := timeline.New(begin, nodes)
	for next := 0; ; {
		n := min(1<<rng.IntN(7), 1+rng.IntN(128))
		limit := time.Duration(1+rng.ExpFloat64()*5000) * time.Second
		if waiting == 0 && rng.IntN(4) == 0 {
			return snap // an idle cluster, or a part of it
		}
		if next+n > nodes {
			break
		}
		j := cluster.Queued{ID: fmt.Sprint("r", next), User: "a", Partition: "sim", Count: n, PerNode: has, Start: begin.Add(-limit / 3), Limit: limit}
		for range n {
			j.Nodes = append(j.Nodes, next)
			snap.Nodes[next].Free = job.Resources{}
			next++
		}
		q.Running = append(q.Running, j)
		line.Add(begin, j.Start.Add(limit), -n)
	}
	for i := range waiting {
		n, limit := min(1<<rng.IntN(7), 1+rng.IntN(128)), time.Duration(1+rng.ExpFloat64()*5000)*time.Second
		start, _ := line.EarliestFit(begin, n, limit)
		line.Add(start, start.Add(limit), -n)
		q.Pending = append(q.Pending, cluster.Queued{ID: fmt.Sprint(i), User: "a", Partition: "sim", Count: n, PerNode: has, Start: start, Limit: limit})
	}
	return snap
}

// mixProfile is the profile of five runs of 100 maps and 25 reduces, with shuffles of 2 to 6 s.
func mixProfile(spec *job.Spec, rng *rand.Rand) *predict.Profile {
	p := &predict.Profile{App: predict.Application(spec)}
	normal := func(mean, sd float64) job.Time {
		return job.Time(max(1, mean+sd*rng.NormFloat64()) * float64(time.Second))
	}
	for range 5 {
		var c predict.Collector
		if spec.Kind == job.Bag {
			for range 100 {
				c.Add(job.BagTask, []job.PhaseStat{{Phase: job.PhaseCompute, End: normal(60, 20)}})
			}
			p.AddRun(predict.Size{Kind: job.Bag, Tasks: 100}, 0, c.Measures())
			continue
		}
		for range 100 {
			c.Add(job.MapTask, []job.PhaseStat{{Phase: job.PhaseMap, End: normal(60, 20)}})
		}
		for range 25 {
			shuffled := normal(4, 1)
			c.Add(job.ReduceTask, []job.PhaseStat{{Phase: job.PhaseShuffle, End: shuffled}, {Phase: job.PhaseReduce, Start: shuffled, End: shuffled + normal(120, 30)}})
		}
		p.AddRun(predict.Size{Kind: job.MapReduce, Tasks: 100, Reduces: 25}, 0, c.Measures())
	}
	return p
}

// mixQuestion is a job of the mix before a queue.
func mixQuestion(bin [3]int, snap cluster.Snapshot, request job.Request, rng *rand.Rand) Question {
	spec := &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Request: request, Bag: &job.BagSpec{Command: []string{"/opt/sim"}, Need: job.Resources{CPUs: 1}}}
	if bin[1] > 0 {
		spec.Kind, spec.Bag = job.MapReduce, nil
		spec.MapReduce = &job.MapReduceSpec{Reduces: bin[1], MapNeed: job.Resources{CPUs: 1}, ReduceNeed: job.Resources{CPUs: 1}}
	}
	return Question{Now: begin, Snap: snap, Spec: spec, Counts: Counts{Tasks: bin[0]}, Profile: mixProfile(spec, rng)}
}

// mix returns questions of a simulated cluster: jobs of the Facebook mix before queues of 0 to 1,000 jobs.
func mix(n int, request job.Request, seed uint64) []Question {
	rng := rand.New(rand.NewPCG(seed, 3))
	out := make([]Question, n)
	for i := range out {
		k := rng.IntN(101)
		bin := 0
		for k -= mixBins[bin][2]; k >= 0; k -= mixBins[bin][2] {
			bin++
		}
		out[i] = mixQuestion(mixBins[bin], mixQueue([]int{0, 10, 100, 300, 1000}[i%5], rng), request, rng)
	}
	return out
}

var mixRequests = []struct {
	name string
	ask  job.Request
}{{"auto", job.Request{}}, {"one", job.Request{MaxAllocs: 1}}}

// BenchmarkDecideMix decides on the Facebook mix in a simulated cluster.
func BenchmarkDecideMix(b *testing.B) {
	for _, c := range mixRequests {
		b.Run(c.name, func(b *testing.B) {
			questions := mix(200, c.ask, 1)
			for i := range questions {
				questions[i].Brief = true // as the simulator asks
			}
			b.ResetTimer()
			for i := range b.N {
				if _, err := Decide(questions[i%len(questions)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// asks returns the requests of a plan in one line.
func asks(p *Plan) string {
	var b strings.Builder
	for _, r := range p.Requests() {
		fmt.Fprintf(&b, "%d×%d for %v at +%v; ", r.Nodes, r.PerNode.CPUs, r.Time, r.Start.Sub(p.At))
	}
	fmt.Fprintf(&b, "done at +%.3f s", p.Outlook.Turnaround)
	return b.String()
}

// TestMixDecisions compares decisions on the mix, and on bags before the queues of the loop test, with recorded ones:
// a faster planner must decide the same.
func TestMixDecisions(t *testing.T) {
	datadriven.RunTest(t, "testdata/mix.txt", func(t *testing.T, d *datadriven.TestData) string {
		var questions []Question
		switch d.Cmd {
		case "mix":
			var request job.Request
			d.MaybeScanArgs(t, "max-allocs", &request.MaxAllocs)
			questions = mix(100, request, 2)
		case "bags":
			for _, w := range worlds(50) {
				w.q.Snap = w.snap
				questions = append(questions, w.q)
			}
		}
		var b strings.Builder
		for _, q := range questions {
			p, err := Decide(q)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%d tasks, %d reduces: %s\n", q.Counts.Tasks, reducesOf(q.Spec), asks(&p))
			q.Brief = true
			if brief, err := Decide(q); err != nil || !reflect.DeepEqual(brief.Requests(), p.Requests()) {
				t.Errorf("in brief %+v, %v, else %+v", brief.Requests(), err, p.Requests())
			}
		}
		return b.String()
	})
}

func reducesOf(s *job.Spec) int {
	if s.Kind == job.Bag {
		return 0
	}
	return s.MapReduce.Reduces
}
