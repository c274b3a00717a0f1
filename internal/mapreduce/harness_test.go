package mapreduce

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/sys/probe"
	"berth/internal/wire"
)

// record stores the progress that a task reports.
type record struct {
	mu       sync.Mutex
	phases   []job.Phase
	counters map[string]int64
	in, out  map[job.Phase][2]int64 // bytes, records
	total    map[job.Phase]int64
	memory   int64
	cpu      time.Duration
}

func newRecord() *record {
	return &record{counters: map[string]int64{}, in: map[job.Phase][2]int64{}, out: map[job.Phase][2]int64{}, total: map[job.Phase]int64{}}
}

func (r *record) now() job.Phase { return r.phases[len(r.phases)-1] }

func (r *record) Enter(p job.Phase) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.phases = append(r.phases, p)
}

func (r *record) In(bytes, records int64) { r.add(r.in, bytes, records) }

func (r *record) Out(bytes, records int64) { r.add(r.out, bytes, records) }

func (r *record) add(to map[job.Phase][2]int64, bytes, records int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := to[r.now()]
	to[r.now()] = [2]int64{n[0] + bytes, n[1] + records}
}

func (r *record) Net(int64) {}

func (r *record) Waited(time.Duration) {}

func (r *record) Spent(s probe.Spent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cpu += s.CPU
}

func (r *record) Memory(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory = max(r.memory, bytes)
}

func (r *record) Total(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total[r.now()] = bytes
}

func (r *record) Counter(_, name string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counters[name] += n
}

// programFunc is a Program of a test.
type programFunc func(ctx context.Context, in io.Reader, out io.Writer) error

func (f programFunc) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	return f(ctx, in, out)
}

// cat copies through the streams, as a command would.
var cat = programFunc(func(_ context.Context, in io.Reader, out io.Writer) error { return pump(out, in) })

// pump copies in pieces as a worker does.
func pump(out io.Writer, in io.Reader) error {
	buf := make([]byte, 256<<10)
	for {
		n, rerr := in.Read(buf)
		if _, err := out.Write(buf[:n]); err != nil {
			return err
		}
		if rerr == io.EOF {
			return nil
		}
		if rerr != nil {
			return rerr
		}
	}
}

// littleMemory is so small that maps spill often and merges need several passes.
const littleMemory = 8 << 10

// cluster is a job on one or two nodes, whose attempts a test runs.
type cluster struct {
	t        testing.TB
	dir      string
	spec     *job.MapReduceSpec
	memory   int64
	reduces  int
	enter    func(Progress) func(job.Phase, func()) error // nil: freely
	supply   extsort.Supply                               // nil: of memory bytes
	mapper   Program
	combiner Program
	reducer  Program

	outputs  *shuffle.Store // where maps run
	splits   []job.Split
	node     *shuffle.Node // where maps run
	reader   *shuffle.Node // where reduces run
	progress []*record
	attempts map[int]int // of each map
	folders  sync.Map    // with what attempts leave, by Dir
}

func newCluster(t testing.TB, inputs ...[]byte) *cluster {
	t.Helper()
	c := &cluster{t: t, dir: t.TempDir(), memory: 1 << 20, reduces: 1, attempts: map[int]int{}}
	c.spec = &job.MapReduceSpec{Output: filepath.Join(c.dir, "out"), MapOutputSeparator: "\t", MapOutputKeyFields: 1}
	for i, in := range inputs {
		path := filepath.Join(c.dir, fmt.Sprintf("in%d", i))
		if err := os.WriteFile(path, in, 0o600); err != nil {
			t.Fatal(err)
		}
		n := int64(len(in))
		c.splits = append(c.splits, job.Split{Ranges: []job.Range{{Path: path, Length: n, Size: n}}})
	}
	var err error
	if c.node, err = shuffle.NewNode("a1/0", filepath.Join(c.dir, "outputs"), slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	c.outputs, c.reader = c.node.Store, c.node
	return c
}

// remote makes reduces fetch their segments over HTTPS.
func (c *cluster) remote() {
	ca, err := wire.GenerateCA(filepath.Join(c.dir, "ca"))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.reader, err = shuffle.NewNode("a1/1", filepath.Join(c.dir, "reader"), slog.New(slog.DiscardHandler)); err != nil {
		c.t.Fatal(err)
	}
	for id, n := range map[job.NodeID]*shuffle.Node{"a1/0": c.node, "a1/1": c.reader} {
		keys, err := ca.IssueWorker(id)
		if err != nil {
			c.t.Fatal(err)
		}
		if err := n.Use(keys, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(n.Close)
	}
}

func (c *cluster) record() *record {
	r := newRecord()
	c.progress = append(c.progress, r)
	return r
}

// means returns the supply of attempts.
func (c *cluster) means() extsort.Supply {
	if c.supply != nil {
		return c.supply
	}
	return always{extsort.Means{Memory: c.memory}}
}

// always is a supply that allots the same to every attempt.
type always struct{ means extsort.Means }

func (a always) Take() extsort.Means { return a.means }
func (a always) Give(extsort.Means)  {}

// freely has grants for all phases.
func freely(prog Progress) func(job.Phase, func()) error {
	return func(p job.Phase, _ func()) error {
		prog.Enter(p)
		return nil
	}
}

// asking requires a request before each phase.
func asking(prog Progress, ask func(job.Phase) error) func(job.Phase, func()) error {
	return func(p job.Phase, idle func()) error {
		idle()
		prog.Enter(job.PhaseNone)
		err := ask(p)
		if err == nil {
			prog.Enter(p)
		}
		return err
	}
}

// newFolder returns the new folder with what an attempt leaves.
func (c *cluster) newFolder(a job.Attempt, index int) string {
	f, err := NewFolder(c.spec, a, index)
	if err != nil {
		panic(err)
	}
	c.folders.Store(f.Dir, f)
	return f.Dir
}

func (c *cluster) folder(dir string) *Folder {
	f, _ := c.folders.Load(dir)
	return f.(*Folder)
}

// runMap runs another attempt of a map. It returns the folder with what the attempt leaves if there are no reduces.
func (c *cluster) runMap(ctx context.Context, task int) (left string, err error) {
	c.attempts[task]++
	a := job.Attempt{Job: "mapreduce-1", Task: task, N: c.attempts[task]}
	if c.reduces == 0 {
		left = c.newFolder(a, task)
	}
	err = RunMap(ctx, MapTask{
		Task:  c.task(a, left),
		Split: c.splits[task], Partitions: c.reduces, Mapper: c.mapper, Outputs: c.outputs,
	})
	return left, err
}

// maps runs all maps.
func (c *cluster) maps() {
	c.t.Helper()
	for task := range c.splits {
		if _, err := c.runMap(context.Background(), task); err != nil {
			c.t.Fatalf("map %d: %v", task, err)
		}
	}
}

// segments locates map outputs for a reduce, and runs maps again whose outputs are damaged.
type segments struct {
	c      *cluster
	places *shuffle.Locations
	mu     sync.Mutex
	bad    []shuffle.Location
}

func (c *cluster) segments() *segments {
	s := &segments{c: c, places: shuffle.NewLocations()}
	for task := range c.splits {
		s.places.Add(s.location(task))
	}
	return s
}

func (s *segments) location(task int) shuffle.Location {
	a := job.Attempt{Job: "mapreduce-1", Task: task, N: s.c.attempts[task]}
	return shuffle.Location{Attempt: a, Holder: "a1/0", Addr: s.c.node.Address()}
}

// source returns the segments of a reduce.
func (s *segments) source() shuffle.Source {
	return shuffle.Source{Node: s.c.reader, Locations: s.places, Lost: s.lost}
}

func (s *segments) lost(loc shuffle.Location, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		panic("lost without an error")
	}
	s.bad = append(s.bad, loc)
	if _, err := s.c.runMap(context.Background(), loc.Attempt.Task); err != nil {
		panic(err)
	}
	s.places.Add(s.location(loc.Attempt.Task))
}

// reduceTask is the task of a partition.
func (c *cluster) reduceTask(partition int, s *segments) ReduceTask {
	a := job.Attempt{Job: "mapreduce-1", Task: len(c.splits) + partition, N: 1}
	return ReduceTask{
		Task:      c.task(a, c.newFolder(a, partition)),
		Partition: partition, Maps: len(c.splits), Reducer: c.reducer, Source: s.source(),
	}
}

// task is what an attempt of either kind is given.
func (c *cluster) task(a job.Attempt, left string) Task {
	prog, enter := c.record(), freely
	if c.enter != nil {
		enter = c.enter
	}
	return Task{
		Spec: c.spec, Attempt: a, Combiner: c.combiner, Supply: c.means(), MaxRecord: extsort.RecordLimit(c.memory),
		Dir: filepath.Join(c.dir, "scratch", a.String()), Left: left, Progress: prog, Enter: enter(prog),
	}
}

// reduce runs and commits one reduce.
func (c *cluster) reduce(partition int) []byte {
	c.t.Helper()
	return c.reduceFrom(partition, c.segments())
}

func (c *cluster) reduceFrom(partition int, s *segments) []byte {
	c.t.Helper()
	task := c.reduceTask(partition, s)
	if err := RunReduce(context.Background(), task); err != nil {
		c.t.Fatalf("reduce %d: %v", partition, err)
	}
	return c.committed(task.Left)
}

// committed commits what an attempt left and returns the content of its part.
func (c *cluster) committed(left string) []byte {
	c.t.Helper()
	f := c.folder(left)
	if err := f.Commit(context.Background(), 0); err != nil {
		c.t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(c.spec.Output, f.part))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		c.t.Fatal(err)
	}
	return b
}

// run runs the whole job and returns its parts.
func (c *cluster) run() [][]byte {
	c.t.Helper()
	c.maps()
	var parts [][]byte
	for p := range c.reduces {
		parts = append(parts, c.reduce(p))
	}
	return parts
}

// sum adds up a counter over all tasks.
func (c *cluster) sum(counter string) int64 {
	var sum int64
	for _, r := range c.progress {
		sum += r.counters[counter]
	}
	return sum
}

// lines cuts text at newlines; the text behind the last newline is a line too.
func lines(text []byte) [][]byte {
	if len(text) == 0 {
		return nil
	}
	return bytes.Split(bytes.TrimSuffix(text, newline), newline)
}
