package worker

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/mapreduce"
	"berth/internal/mapreduce/shuffle"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// streaming returns the spec of a MapReduce job over one input file with that text.
func streaming(t *testing.T, input string, mapper, reducer []string) *job.Spec {
	t.Helper()
	s := job.New(job.MapReduce, t.TempDir())
	s.ID = "mr-1"
	m := s.MapReduce
	path := filepath.Join(s.Dir, "input")
	if err := os.WriteFile(path, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Inputs, m.Output = []string{path}, filepath.Join(s.Dir, "out")
	m.Mapper = job.Program{Args: mapper}
	if reducer != nil {
		m.Reducer, m.Reduces = &job.Program{Args: reducer}, 1
	}
	m.NonZeroExitIsFail = true
	m.Env = []string{"PATH=" + os.Getenv("PATH")}
	s.Normalize()
	if err := mapreduce.PrepareOutput(m, "mr-1"); err != nil {
		t.Fatal(err)
	}
	return s
}

// rename gives the job another id, with its output.
func rename(t *testing.T, s *job.Spec, id job.ID) {
	t.Helper()
	temp := filepath.Join(s.MapReduce.Output, "_temporary")
	if err := os.Rename(filepath.Join(temp, string(s.ID)), filepath.Join(temp, string(id))); err != nil {
		t.Fatal(err)
	}
	s.ID = id
}

// split returns the n-th of the input's parts of that many bytes.
func split(s *job.Spec, n int, size int64) *job.Split {
	path := s.MapReduce.Inputs[0]
	st, err := os.Stat(path)
	if err != nil {
		panic(err)
	}
	offset := int64(n) * size
	return &job.Split{Ranges: []job.Range{{Path: path, Offset: offset, Length: min(size, st.Size()-offset), Size: st.Size()}}}
}

func startMap(s *job.Spec, task, n int, sp *job.Split) *wire.Start {
	return &wire.Start{Start: step.Start{Attempt: try(s.ID, task, n), Through: job.PhaseMerge}, Split: sp}
}

func startReduce(s *job.Spec, task, n int) *wire.Start {
	return &wire.Start{Start: step.Start{Attempt: try(s.ID, task, n), Through: job.PhaseShuffle}}
}

// reduceTo leads a reduce attempt to its end.
func (p *peer) reduceTo(at job.Attempt) wire.Ended {
	p.c.t.Helper()
	if m := expect[wire.GrantWanted](p); m.Attempt != at || m.Phase != job.PhaseSort {
		p.c.t.Fatalf("got %+v", m)
	}
	p.say(wire.Grant{Attempt: at, Phase: job.PhaseReduce})
	if m := expect[wire.CommitWanted](p); m.Attempt != at {
		p.c.t.Fatalf("got %+v", m)
	}
	p.say(wire.Commit{Attempt: at})
	return p.ended(event.Done)
}

const fruit = "pear\napple\nfig\npear\nfig\npear\n"

// half cuts fruit into two splits.
const half = int64(len(fruit)+1) / 2

var count = []string{"sh", "-c", `sort | uniq -c | awk '{print $2 "\t" $1}'`}

func TestMapAndReduce(t *testing.T) {
	c, p := startWorker(t)
	s := streaming(t, fruit, []string{"cat"}, count)
	p.job(s, 2, 1)
	p.say(startReduce(s, 2, 1)) // before its maps: it waits for them
	for n := range 2 {
		p.say(startMap(s, n, 1, split(s, n, half)))
		m := p.ended(event.Done)
		if len(m.Stats) != 2 || m.Stats[0].Phase != job.PhaseMap || m.Stats[1].Phase != job.PhaseMerge {
			t.Errorf("phases of a map: %+v", m.Stats)
		}
		if st := m.Stats[0]; st.CPU <= 0 || st.BytesIn <= 0 || st.PeakMemory <= 0 {
			t.Errorf("map measured as %+v", st)
		}
		p.say(wire.Locate{Attempt: m.Attempt, Holder: "a1/0", Addr: p.hello.Addr})
	}
	m := p.reduceTo(try(s.ID, 2, 1))
	if got, want := read(t, filepath.Join(s.MapReduce.Output, "part-00000")), "apple\t1\nfig\t2\npear\t3\n"; got != want {
		t.Errorf("output\n%swant\n%s", got, want)
	}
	if len(m.Stats) != 3 {
		t.Errorf("phases of a reduce: %+v", m.Stats)
	}
	_ = p.conn.Close()
	p = c.welcome()
	if held := p.hello.Held; len(held) != 2 {
		t.Errorf("the worker says it holds %v", held)
	}
}

func TestMapOnlyCommits(t *testing.T) {
	_, p := startWorker(t)
	s := streaming(t, fruit, []string{"tr", "a-z", "A-Z"}, nil)
	p.job(s, 1, 0)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	expect[wire.CommitWanted](p)
	part := filepath.Join(s.MapReduce.Output, "part-00000")
	if _, err := os.Stat(part); err == nil {
		t.Error("the part is in place without permission")
	}
	p.say(wire.Commit{Attempt: try(s.ID, 0, 1)})
	p.ended(event.Done)
	if got, want := read(t, part), strings.ToUpper(fruit); got != want {
		t.Errorf("output\n%swant\n%s", got, want)
	}
}

// The worker that takes a dead one's place has its map outputs, and nothing else of it.
func TestReplacementAdoptsOutputs(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	s := streaming(t, fruit, nil, count)
	ready := fifo(t, s.Dir, "ready")
	s.MapReduce.Mapper.Args = []string{"sh", "-c",
		`cat; if [ $mapreduce_task_partition = 1 ]; then echo > ` + ready + `; sleep 1000; fi`}
	p.job(s, 2, 1)
	p.say(startMap(s, 0, 1, split(s, 0, half)))
	held := p.ended(event.Done).Attempt
	p.say(startMap(s, 1, 1, split(s, 1, half)))
	hear(t, ready)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.gone()
	p, _ = c.process(cfg)
	if !slices.Equal(p.hello.Held, []job.Attempt{held}) || len(p.hello.Running) > 0 {
		t.Errorf("held %v, running %v; want %v and none", p.hello.Held, p.hello.Running, held)
	}
	left, err := filepath.Glob(filepath.Join(cfg.Scratch, "*", "*"))
	if err != nil || len(left) != 3 { // lock, outputs, tasks
		t.Errorf("the scratch folder holds %v (%v)", left, err)
	}
}

// A combiner that is a command, and one that is native.
func TestCombiners(t *testing.T) {
	for name, combiner := range map[string]job.Program{
		"command": {Args: []string{"sh", "-c", "echo reporter:counter:G,COMBINED,1 >&2; exec uniq"}},
		"native":  {Native: "aggregate"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := startWorker(t)
			s := streaming(t, strings.Repeat(fruit, 3), []string{"sed", "s/^/LongValueSum:/; s/$/\t1/"}, []string{"sh", "-c", "cut -f1 | uniq"})
			s.MapReduce.Combiner = &combiner
			p.job(s, 1, 1)
			p.say(startMap(s, 0, 1, split(s, 0, 1000)))
			m := p.ended(event.Done)
			if in, out := m.Counters[counterGroup+",COMBINE_INPUT_RECORDS"], m.Counters[counterGroup+",COMBINE_OUTPUT_RECORDS"]; in != 18 || out != 3 {
				t.Errorf("the combiner made %d of %d records, want 3 of 18", out, in)
			}
			if n := m.Counters["G,COMBINED"]; n != 1 && name == "command" {
				t.Errorf("the combiner reported %d", n)
			}
		})
	}
}

const counterGroup = "org.apache.hadoop.mapreduce.TaskCounter"

// Two workers, each with the output of one map; a damaged output is made anew.
func TestShuffleBetweenWorkers(t *testing.T) {
	c := newCoord(t)
	p0, _ := c.worker(c.config("a1/0"))
	p1, _ := c.worker(c.config("a1/1"))
	s := streaming(t, fruit, []string{"cat"}, count)
	peers := []*peer{p0, p1}
	var at [2]job.Attempt
	for n, p := range peers {
		p.job(s, 2, 1)
		p.say(startMap(s, n, 1, split(s, n, half)))
		at[n] = p.ended(event.Done).Attempt
	}
	files, err := filepath.Glob(filepath.Join(c.dir, "scratch", "a1-1-*", "outputs", "mr-1", "1.1"))
	if err != nil || len(files) != 1 {
		t.Fatalf("map output: %v, %v", files, err)
	}
	whole := read(t, files[0])
	flip(t, files[0])

	p0.say(startReduce(s, 2, 1))
	for n := range peers {
		p0.say(wire.Locate{Attempt: at[n], Holder: job.NodeID(fmt.Sprintf("a1/%d", n)), Addr: peers[n].hello.Addr})
	}
	m := expect[wire.FetchFailed](p0)
	if m.Map != at[1] || m.By != try(s.ID, 2, 1) {
		t.Errorf("got %+v", m)
	}
	_ = p0.conn.Close() // the complaint is repeated
	p0 = c.welcome()
	expect[wire.FetchFailed](p0)
	if err := os.WriteFile(files[0], []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	p1.say(startMap(s, 1, 2, split(s, 1, half)))
	again := p1.ended(event.Done).Attempt
	p0.say(wire.Locate{Attempt: again, Holder: "a1/1", Addr: p1.hello.Addr})
	p0.reduceTo(try(s.ID, 2, 1))
	if got, want := read(t, filepath.Join(s.MapReduce.Output, "part-00000")), "apple\t1\nfig\t2\npear\t3\n"; got != want {
		t.Errorf("output\n%swant\n%s", got, want)
	}
}

// flip changes one byte in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b := []byte(read(t, path))
	b[len(b)/3] ^= 0x40
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A local output that is damaged is dropped, so that the next hello does not offer it.
func TestDamagedLocalOutput(t *testing.T) {
	c, p := startWorker(t)
	s := streaming(t, fruit, []string{"cat"}, count)
	p.job(s, 1, 1)
	p.say(startMap(s, 0, 1, split(s, 0, 100)))
	at := p.ended(event.Done).Attempt
	files, err := filepath.Glob(filepath.Join(c.dir, "scratch", "*", "outputs", "mr-1", "0.1"))
	if err != nil || len(files) != 1 {
		t.Fatalf("map output: %v, %v", files, err)
	}
	flip(t, files[0])
	p.say(startReduce(s, 1, 1))
	p.say(wire.Locate{Attempt: at, Holder: "a1/0", Addr: p.hello.Addr})
	for leave := true; leave; { // the damage may be found before or after a grant is asked for
		select {
		case m := <-p.got:
			switch m := m.(type) {
			case wire.GrantWanted:
				p.say(wire.Grant{Attempt: m.Attempt, Phase: job.PhaseReduce})
			case wire.FetchFailed:
				leave = false
			default:
				t.Fatalf("got %T", m)
			}
		case <-time.After(patience):
			t.Fatal("the damage was not found")
		}
	}
	if _, err := os.Stat(files[0]); err == nil {
		t.Error("the damaged output is still there")
	}
	p.say(startMap(s, 0, 2, split(s, 0, 100)))
	p.say(wire.Locate{Attempt: p.ended(event.Done).Attempt, Holder: "a1/0", Addr: p.hello.Addr})
	for {
		switch m := (<-p.got).(type) {
		case wire.GrantWanted:
			p.say(wire.Grant{Attempt: m.Attempt, Phase: job.PhaseReduce})
			continue
		case wire.CommitWanted:
			p.say(wire.Commit{Attempt: m.Attempt})
			p.ended(event.Done)
		default:
			t.Fatalf("got %T", m)
		}
		break
	}
	if got, want := read(t, filepath.Join(s.MapReduce.Output, "part-00000")), "apple\t1\nfig\t2\npear\t3\n"; got != want {
		t.Errorf("output\n%swant\n%s", got, want)
	}
}

// fetchWith asks the node at addr for an output that it does not hold, with these keys.
func fetchWith(t *testing.T, id *wire.Identity, addr string) error {
	t.Helper()
	n, err := shuffle.NewNode("a1/9", t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Use(id, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		t.Fatal(err)
	}
	_, err = n.Open(t.Context(), shuffle.Location{Attempt: try("mr-1", 0, 1), Holder: "a1/0", Addr: addr}, 0)
	return err
}

// A shuffle server lets nobody in who has no keys of this coordinator's.
func TestStrangersCannotFetch(t *testing.T) {
	mine, other := newCoord(t), newCoord(t)
	p, _ := mine.worker(mine.config("a1/0"))
	id, err := other.ca.IssueWorker("a1/0")
	if err != nil {
		t.Fatal(err)
	}
	err = fetchWith(t, id, p.hello.Addr)
	if err == nil || !strings.Contains(err.Error(), "remote error: tls") {
		t.Errorf("fetch with foreign keys: %v", err)
	}
	id, err = mine.ca.IssueWorker("a1/1")
	if err != nil {
		t.Fatal(err)
	}
	err = fetchWith(t, id, p.hello.Addr)
	if err == nil || !strings.Contains(err.Error(), shuffle.ErrNotHeld.Error()) {
		t.Errorf("fetch with good keys of what is not there: %v", err)
	}
}

// A panic in an attempt breaks that attempt, not the worker.
func TestPanicIsContained(t *testing.T) {
	var log bytes.Buffer
	w := &worker{log: slog.New(slog.NewTextHandler(&log, nil))}
	err := w.guard(&attempt{id: try("bag-1", 0, 1)}, func() error { panic("ouch") })
	if f := process.FailureOf(err); f.Outcome != event.Broken || !strings.Contains(f.Reason, "ouch") {
		t.Errorf("got %+v", f)
	}
	if !strings.Contains(log.String(), "goroutine") {
		t.Error("the log has no stack")
	}
}
