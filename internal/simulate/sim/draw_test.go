package sim

import (
	"context"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/simulate/batch"
)

// TestProfiles checks that a profile samples the tasks of all jobs of its application, includes both
// kinds of shuffle, and is the same for the same seed.
func TestProfiles(t *testing.T) {
	cfg := Config{Elastic: mix(60, time.Second, 1), Seed: 1}
	for i := range cfg.Elastic {
		e := &cfg.Elastic[i]
		for range e.Reduces {
			e.FirstShuffle, e.Shuffle = append(e.FirstShuffle, time.Second), append(e.Shuffle, 3*time.Second)
		}
	}
	key := profileKey{"facebook", job.MapReduce}
	p := profilesOf(&cfg)[key]
	for part, want := range map[predict.Part]float64{predict.FirstShuffle: 1, predict.OtherShuffle: 3} {
		if m := p.Measures.Get(part); m.Time.Count < 10 || m.Time.Mean() != want {
			t.Errorf("%s: %d samples of %v s on average, want %v s", part, m.Time.Count, m.Time.Mean(), want)
		}
	}
	if n := p.Measures.Get(predict.MapTask).Time.Count; n != sampled {
		t.Errorf("%d maps, want %d", n, sampled)
	}
	if n := profilesOf(&cfg)[profileKey{"facebook", job.Bag}].Measures.Get(predict.BagTask).Time.Count; n != sampled {
		t.Errorf("%d tasks of bags, want %d", n, sampled)
	}
	if !reflect.DeepEqual(p, profilesOf(&cfg)[key]) {
		t.Error("the same seed gives another sample")
	}
	other := cfg
	other.Seed = 2
	if reflect.DeepEqual(p, profilesOf(&other)[key]) {
		t.Error("another seed gives the same sample")
	}
	cfg.Adaptor.Unknown = true
	if len(profilesOf(&cfg)) > 0 {
		t.Error("something is known of what is unknown")
	}
}

// TestAttemptFails checks that attempts fail with the given probability, independently of each
// other.
func TestAttemptFails(t *testing.T) {
	w := &World{cfg: &Config{Seed: 3, Faults: Faults{TaskFails: 0.3}}}
	const tasks = 10_000
	sorts := []struct{ index, n int }{{0, 1}, {0, 2}, {1, 1}}
	fails := make([]int, len(sorts))
	same := 0
	for task := range tasks {
		var got [3]bool
		for i, s := range sorts {
			if got[i] = w.attemptFails(job.Attempt{Task: task, N: s.n}, s.index); got[i] {
				fails[i]++
			}
		}
		if got[0] == got[1] && got[1] == got[2] {
			same++
		}
	}
	for i, n := range fails {
		if n < tasks*28/100 || n > tasks*32/100 {
			t.Errorf("%+v: %d of %d fail", sorts[i], n, tasks)
		}
	}
	if same < tasks*33/100 || same > tasks*41/100 { // 0.3³ + 0.7³ = 0.37
		t.Errorf("%d of %d have the same luck", same, tasks)
	}
}

// releasingOwner is an owner that releases another allocation when its own begins.
type releasingOwner struct {
	w     *World
	other *allocation
	begun int
}

func (o *releasingOwner) began() {
	o.begun++
	o.w.release(o.other)
}

func (o *releasingOwner) nodeFailed(int) {}

// TestReleasedAsItBegins checks that an owner whose allocation is released at the instant of its
// start is never told that it began.
func TestReleasedAsItBegins(t *testing.T) {
	w := newWorld(context.Background(), &Config{Cluster: Cluster{Nodes: 2}, Policy: batch.FCFS})
	a, b := &releasingOwner{w: w}, &releasingOwner{w: w}
	b.other = w.submit(a, w.queues[0], "a", 1, time.Hour)
	a.other = w.submit(b, w.queues[0], "b", 1, time.Hour)
	w.start()
	if a.begun != 1 || b.begun != 0 || w.queues[0].Free() != 1 {
		t.Errorf("%d and %d began, %d nodes are free", a.begun, b.begun, w.queues[0].Free())
	}
}
