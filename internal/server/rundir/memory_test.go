package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
	"berth/internal/server/history"
)

const gib = 1 << 30

// inputs returns a folder with files of that many MB, and a bag of one task for each, with --mem auto.
func inputs(t *testing.T, mbs ...int64) (*job.Spec, []job.Entry) {
	t.Helper()
	dir := t.TempDir()
	var entries []job.Entry
	for i, mb := range mbs {
		name := fmt.Sprint("in", i)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(dir, name), mb<<20); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, job.Entry{name})
	}
	spec := job.New(job.Bag, dir)
	spec.Bag.Command, spec.Bag.AutoMem, spec.Bag.Need.CPUs = []string{"align", "{}"}, true, 2
	spec.Normalize()
	return spec, entries
}

// machine is a backend with two nodes.
func machine() backend {
	var b backend
	b.Snapshot = cluster.Snapshot{Nodes: []cluster.Node{{Capacity: job.Resources{CPUs: 4, Mem: 16 * gib}}, {Capacity: job.Resources{CPUs: 8, Mem: 64 * gib}}}}
	return b
}

// TestAutoMemory: without earlier tasks all have as much as the smallest node has for their cores, up to their maximum. Tasks whose memory grew with the
// size of their input make it follow the size, up to what the largest node has, and tasks with inputs of about the same size have the same needs.
func TestAutoMemory(t *testing.T) {
	h := newHome(t)
	spec, entries := inputs(t, 100, 100, 1000)
	at := machine()
	list := at.chooseMemory(t.Context(), h, spec, entries)
	note := at.Notes[0]
	if spec.Bag.Need.Mem != 8*gib || spec.Bag.NodeMem != 64*gib || !strings.Contains(note, "8G, until some are done") {
		t.Errorf("without history a task of two cores has %s of %s: %s", job.FormatSize(spec.Bag.Need.Mem), job.FormatSize(spec.Bag.NodeMem), note)
	}
	if spec.Bag.MaxMem = 5 * gib; len(list.Further) != 2 {
		t.Errorf("needs %+v", list.Further)
	}
	if at.chooseMemory(t.Context(), h, spec, entries); spec.Bag.Need.Mem != 5*gib {
		t.Errorf("it has %s, and may have 5G", job.FormatSize(spec.Bag.Need.Mem))
	}

	s, err := history.Open(t.Context(), h.Database())
	if err != nil {
		t.Fatal(err)
	}
	var c predict.Collector
	for i := range int64(40) {
		mb := 50 * (i%20 + 1)
		phases := []job.PhaseStat{{Phase: job.PhaseCompute, End: job.Time(time.Minute), PeakMemory: 4 * mb << 20}}
		c.Add(job.BagTask, phases)
		c.AddMemory(mb<<20, phases)
	}
	app := predict.Application(spec)
	done := history.Run{ID: "bag-1", Kind: job.Bag, App: app, State: "done", Ended: 1}
	saveRun(t, s, history.Measured{Run: done, Measures: c.Measures()})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	spec, entries = inputs(t, 100, 101, 1000, 100_000)
	at = machine()
	list = at.chooseMemory(t.Context(), h, spec, entries)
	note = at.Notes[0]
	var mems []string
	for _, n := range list.Further {
		mems = append(mems, fmt.Sprintf("%d MB %s", n.Size>>20, job.FormatSize(n.Mem)))
		if n.Mem > 64*gib || !n.AutoMem || float64(n.Mem) < 3.9*float64(min(n.Size, 1000<<20)) {
			t.Errorf("a task with an input of %s has %s", job.FormatSize(n.Size), job.FormatSize(n.Mem))
		}
	}
	if len(list.Further) != 3 || list.Which[0].Tasks != 2 || list.Further[0].Mem > gib || list.Further[1].Mem < 3*gib || !strings.Contains(note, "by what earlier ones used") {
		t.Errorf("needs %v, %+v: %s", mems, list.Which, note)
	}
}

// TestInputSizes: the size of a task's input is that of the regular files that its entry names, in columns or as words of a command, and not that of
// folders and of what does not exist.
func TestInputSizes(t *testing.T) {
	spec, _ := inputs(t, 1, 2)
	for entry, want := range map[string]int64{"in0": 1 << 20, "sort in0 -o in1 nothing .": 3 << 20, "nothing": 0, ".": 0, "": 0, "a\x00b": 0} {
		if got := InputSize(spec.Dir, []string{entry}); got != job.Steps(want, sizeGrains) {
			t.Errorf("%q: %d bytes, want %d", entry, got, want)
		}
	}
	if got := InputSize("/", []string{filepath.Join(spec.Dir, "in1"), "7"}); got != 2<<20 {
		t.Errorf("%d bytes", got)
	}
}
