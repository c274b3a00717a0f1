package job

import (
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestNeedsIn: what a task does not say is as for the bag, and GPUs can be none although the bag has some.
func TestNeedsIn(t *testing.T) {
	bag := Needs{CPUs: 2, Mem: 4, MaxMem: 8, GPUs: 1, GPUType: "x", TimeLimit: time.Hour, Attempts: 2, Application: "a"}
	for _, c := range []struct{ own, want Needs }{
		{Needs{}, bag},
		{Needs{CPUs: 1, Attempts: 1}, Needs{CPUs: 1, Mem: 4, MaxMem: 8, GPUs: 1, GPUType: "x", TimeLimit: time.Hour, Attempts: 1, Application: "a"}},
		{Needs{Mem: 6, TimeLimit: time.Minute}, Needs{CPUs: 2, Mem: 6, GPUs: 1, GPUType: "x", TimeLimit: time.Minute, Attempts: 2, Application: "a"}},
		{Needs{GPUs: NoGPUs}, Needs{CPUs: 2, Mem: 4, MaxMem: 8, TimeLimit: time.Hour, Attempts: 2, Application: "a"}},
		{Needs{GPUs: 3}, Needs{CPUs: 2, Mem: 4, MaxMem: 8, GPUs: 3, TimeLimit: time.Hour, Attempts: 2, Application: "a"}},
	} {
		if got := c.own.In(bag); got != c.want {
			t.Errorf("%+v is %+v, want %+v", c.own, got, c.want)
		}
	}
}

// TestCoarse: memory is rounded up by less than an eighth, to few different amounts.
func TestCoarse(t *testing.T) {
	seen := map[int64]bool{}
	for mem := int64(1 << 30); mem <= 64<<30; mem += 7 << 20 {
		got := Needs{Mem: mem}.Coarse().Mem
		if got < mem || got-mem > mem/7 {
			t.Fatalf("%d becomes %d", mem, got)
		}
		seen[got] = true
	}
	if len(seen) > 60 {
		t.Errorf("%d different amounts", len(seen))
	}
}

// TestNeedsList: the runs say which task has which needs, and take no room if all have those of the bag.
func TestNeedsList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list NeedsList
		var want []Needs
		for range rapid.IntRange(0, 40).Draw(t, "tasks") {
			n := Needs{CPUs: rapid.IntRange(0, 3).Draw(t, "cpus")}
			want = append(want, n)
			list.Add(n)
		}
		if err := CheckRuns(list.Runs(), len(want), 1+len(list.Further)); err != nil {
			t.Fatal(err)
		}
		var by NeedsByTask
		at := 0
		for _, r := range list.Runs() {
			by.Add(at, r)
			at += int(r.Tasks)
		}
		w := Work{Kind: Bag, Tasks: len(want), Further: list.Further, Which: list.Runs()}
		count := make([]int, w.NeedsCount())
		for i, n := range want {
			k := by.At(i)
			if w.NeedsAt(k) != n.In(w.Terms.Needs()) {
				t.Fatalf("task %d has %+v, want %+v", i, w.NeedsAt(k), n)
			}
			count[k]++
		}
		for k, l := range w.Left() {
			if l.Waiting != count[k] {
				t.Fatalf("%d tasks have %+v, want %d", l.Waiting, l.Needs, count[k])
			}
		}
	})
	var plain NeedsList
	for range 1000 {
		plain.Add(Needs{})
	}
	if plain.Runs() != nil || !reflect.DeepEqual(plain.Which, []NeedsRun{{Tasks: 1000}}) {
		t.Errorf("needs of the bag alone are %v", plain)
	}
	if CheckRuns([]NeedsRun{{Tasks: math.MaxInt32, Index: 0}, {Tasks: 1, Index: 0}}, 7, 1) == nil || CheckRuns([]NeedsRun{{Tasks: 1, Index: 1}}, 7, 1) == nil {
		t.Error("impossible runs are accepted")
	}
}
