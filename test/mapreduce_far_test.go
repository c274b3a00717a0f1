package test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/test/support/fleet"
)

// newFarFleet returns a world with machines m1 and m2, which see none of its files and reach each other only through the user's machine. It has two input files, one of them compressed.
func newFarFleet(t *testing.T, machine fleet.Machine) (*world, *fleet.Fleet) {
	t.Helper()
	w, f := newFar(t, fleet.Names(machine, "m1", "m2")...)
	text := words(rand.New(rand.NewPCG(7, 7)), 20000)
	w.write("in/a.txt", text[:len(text)/2])
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte(text[len(text)/2:]))
	w.ok(err)
	w.ok(z.Close())
	w.write("in/b.txt.gz", packed.String())
	for _, name := range []string{"map.sh", "reduce.sh"} {
		b, err := os.ReadFile(filepath.Join("..", "examples", "wordcount", name))
		w.ok(err)
		w.write(name, string(b))
	}
	w.write("gate.sh", gate)
	return w, f
}

// gate is a program that runs another one. If GATE is set, it first waits for a file on its machine, and for another file if its input is compressed.
const gate = `#!/bin/sh
wait_for() { while [ -n "$GATE" ] && [ ! -e ~/$1 ]; do sleep 0.2; done; }
wait_for go
case $mapreduce_map_input_file in *.gz) wait_for last;; esac
exec "$@"
`

// startOnBoth starts a job on the machines with gate around its mapper, and opens the gate once both machines run a map.
func (w *world) startOnBoth(f *fleet.Fleet, args ...string) (*running, job.ID) {
	w.t.Helper()
	before := len(w.jobs())
	for _, m := range []string{"m1", "m2"} {
		_ = os.Remove(filepath.Join(f.Host(m).Home(), "go"))
	}
	r := w.start(slices.Concat(args, []string{"-cmdenv", "GATE=on", "--hosts", "1/m1,1/m2"})...)
	id := w.submitted(r, before)
	w.await("both machines to run a map", func() bool { return w.nodesOf(id) == 2 })
	w.open(f, "go")
	return r, id
}

// open creates a file that gate waits for, on both machines.
func (w *world) open(f *fleet.Fleet, name string) {
	w.t.Helper()
	for _, m := range []string{"m1", "m2"} {
		w.ok(os.WriteFile(filepath.Join(f.Host(m).Home(), name), nil, 0o600))
	}
}

// nodesOf returns the number of nodes on which attempts of a job started.
func (w *world) nodesOf(id job.ID) int {
	nodes := map[job.NodeID]bool{}
	for _, e := range w.tryRecords(id) {
		if r, is := e.Record.(event.AttemptStarted); is {
			nodes[r.Node] = true
		}
	}
	return len(nodes)
}

// folder returns the names and contents of all files in a folder of the user.
func (w *world) folder(name string) string {
	w.t.Helper()
	var all strings.Builder
	root := filepath.Join(w.dir, name)
	w.ok(filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		fmt.Fprintf(&all, "%s %q\n", strings.TrimPrefix(path, root), b)
		return err
	}))
	return all.String()
}

// TestFarMapReduce checks that jobs on two hosts without the user's files leave exactly the files of a local run, byte for byte.
func TestFarMapReduce(t *testing.T) {
	t.Parallel()
	w, f := newFarFleet(t, fleet.Machine{})
	w.write("lib/deep/dictionary", "the dictionary\n")
	w.write("side.sh", "#!/bin/sh\ncat lib/deep/dictionary >\"$mapreduce_task_output_dir/about-$mapreduce_task_partition\"\necho a word on it >&2\nexec cat\n")
	whole := w.write("elsewhere/upper.sh", "#!/bin/sh\nexec tr a-z A-Z\n")
	w.open(f, "last")
	for name, args := range map[string][]string{
		"count":    {"-mapper", "gate.sh ./map.sh", "-reducer", "reduce.sh", "-numReduceTasks", "3"},
		"combiner": {"-mapper", "gate.sh ./map.sh", "-combiner", "reduce.sh", "-reducer", "reduce.sh", "-numReduceTasks", "2"},
		"sort": {"-mapper", "gate.sh cat", "-reducer", "IdentityReducer", "-numReduceTasks", "2", "-D", "mapreduce.output.fileoutputformat.compress=true",
			"-D", "mapreduce.output.fileoutputformat.compress.codec=GzipCodec"},
		"maps": {"-mapper", "gate.sh ./side.sh", "-numReduceTasks", "0", "-files", "lib"},
		"path": {"-mapper", "gate.sh " + whole, "-reducer", "uniq -c", "-numReduceTasks", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			args := slices.Concat([]string{"mapreduce", "-input", "in", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000"}, args)
			here, there := name+"-here", name+"-there"
			w.must(slices.Concat(args, []string{"-output", here, "--on", "local"})...)
			r, id := w.startOnBoth(f, slices.Concat(args, []string{"-output", there})...)
			if res := w.finish(r); res.code != 0 {
				t.Fatal(res)
			}
			want, got := w.folder(here), w.folder(there)
			if got != want || len(want) < 1000 {
				t.Errorf("on the hosts:\n%.2000s\nlocally:\n%.2000s", got, want)
			}
			if logs, _ := filepath.Glob(filepath.Join(w.home().Run(id).Logs(), "m-*")); name == "maps" && len(logs) == 0 {
				t.Error("no map has a log")
			}
		})
	}
}

// doneAndLost returns how many tasks of a job are done, and how many map outputs were lost.
func (w *world) doneAndLost(id job.ID) (done, lost int) {
	for _, e := range w.tryRecords(id) {
		switch r := e.Record.(type) {
		case event.AttemptEnded:
			if r.Outcome == event.Done {
				done++
			}
		case event.OutputLost:
			lost++
		}
	}
	return done, lost
}

// holder returns the machine, m1 or m2, that has the output of a map.
func (w *world) holder(id job.ID) string {
	w.t.Helper()
	on := map[job.Attempt]job.NodeID{}
	for _, e := range w.records(id) {
		switch r := e.Record.(type) {
		case event.AttemptStarted:
			on[r.Attempt] = r.Node
		case event.AttemptEnded:
			if r.Outcome == event.Done {
				if strings.HasSuffix(string(on[r.Attempt]), "/0") {
					return "m1"
				}
				return "m2"
			}
		}
	}
	w.t.Fatal("no map is done")
	return ""
}

// TestFarHostDies kills a host in the middle of the shuffle, with its map outputs. These maps run again, and the output equals that of a local run.
func TestFarHostDies(t *testing.T) {
	t.Parallel()
	w, f := newFarFleet(t, fleet.Machine{})
	args := []string{"mapreduce", "-input", "in", "-inputformat", "TextInputFormat", "-D", "mapreduce.input.fileinputformat.split.maxsize=20000",
		"-mapper", "gate.sh ./map.sh", "-reducer", "reduce.sh", "-numReduceTasks", "2"}
	w.must(slices.Concat(args, []string{"-output", "here", "--on", "local"})...)
	r, id := w.startOnBoth(f, slices.Concat(args, []string{"-output", "there"})...)
	_, splits, err := w.home().Run(id).Load()
	w.ok(err)
	w.await("all maps but that of the compressed file to be done", func() bool { done, _ := w.doneAndLost(id); return done == len(splits.Splits)-1 })
	h := f.Host(w.holder(id))
	h.Down()
	w.ok(os.RemoveAll(filepath.Join(h.Cache(), "berth", "scratch"))) // otherwise the next worker would serve them again
	w.ok(h.Up())
	w.await("the loss of map outputs to be known", func() bool { _, lost := w.doneAndLost(id); return lost > 0 })
	w.open(f, "go")
	w.open(f, "last")
	if res := w.finish(r); res.code != 0 {
		t.Fatal(res)
	}
	if got, want := w.folder("there"), w.folder("here"); got != want {
		t.Errorf("with a host killed:\n%.2000s\nlocally:\n%.2000s", got, want)
	}
}

// TestFaultFarMapReduce is TestFaultMapReduce for hosts without a shared file system. It also kills and disconnects hosts.
func TestFaultFarMapReduce(t *testing.T) {
	t.Parallel()
	w, f := newFarFleet(t, fleet.Machine{})
	w.victims = []string{"machine", "network"}
	w.strike = func(victim string, _ *rand.Rand) {
		if victim == "machine" {
			f.Host("m2").Down()
			w.ok(f.Host("m2").Up())
			return
		}
		w.ok(f.Host("m1").Cut())
		w.ok(f.Host("m1").Mend())
	}
	farMapReduceRound(t, w, 4)
}

// farMapReduceRound is faultRound for a MapReduce job on the machines of newFarFleet. Its output must be that of a local run.
func farMapReduceRound(t *testing.T, w *world, enough int) {
	t.Helper()
	args := []string{"mapreduce", "-input", "in", "-D", "mapreduce.input.fileinputformat.split.maxsize=10000", "-mapper", "map.sh", "-combiner", "reduce.sh", "-reducer", "reduce.sh", "-numReduceTasks", "3"}
	w.must(slices.Concat(args, []string{"-output", "here", "--on", "local"})...)
	want := w.folder("here")
	faultRound(t, w, enough, among(60), func(round int) []string {
		return slices.Concat(args, []string{"-output", fmt.Sprintf("out%d", round), "--hosts", "1/m1,1/m2"})
	}, func(round int, _ job.ID) {
		if got := w.folder(fmt.Sprintf("out%d", round)); got != want {
			t.Errorf("output differs from the reference:\n%.300q\nwant\n%.300q", got, want)
		}
	})
}
