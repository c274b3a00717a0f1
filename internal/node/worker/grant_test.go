package worker

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// phaseByPhase is a coordinator's word that gives a grant for one phase each, with grants by chance.
type phaseByPhase struct {
	rand  *rand.Rand
	asked map[job.Attempt][]job.Phase
}

func newPhaseByPhase(seed uint64) *phaseByPhase {
	return &phaseByPhase{rand: rand.New(rand.NewPCG(seed, 0)), asked: make(map[job.Attempt][]job.Phase)}
}

func (g *phaseByPhase) memory() int64 { return []int64{0, 1, 600 << 10, 1 << 40}[g.rand.IntN(4)] }

// lead starts the attempts all at once and leads them to their ends, which it returns. Without by they
// have a grant as the engine's order of jobs gives it: a reduce asks before sort, and nothing else does.
func (p *peer) lead(by *phaseByPhase, kindOf func(task int) job.TaskKind, starts ...*wire.Start) map[job.Attempt]wire.Ended {
	p.c.t.Helper()
	for _, m := range starts {
		if by != nil {
			m.Through, m.Memory = kindOf(m.Attempt.Task).Phases()[0], by.memory()
		}
		p.say(m)
	}
	ends := make(map[job.Attempt]wire.Ended)
	for len(ends) < len(starts) {
		switch m := p.next().(type) {
		case wire.GrantWanted:
			leave := wire.Grant{Attempt: m.Attempt, Phase: job.PhaseReduce}
			if by != nil {
				by.asked[m.Attempt] = append(by.asked[m.Attempt], m.Phase)
				leave.Phase, leave.Memory = m.Phase, by.memory()
			}
			p.say(leave)
		case wire.CommitWanted:
			p.say(wire.Commit{Attempt: m.Attempt})
		case wire.Ended:
			p.say(&wire.EndedAck{Attempt: m.Attempt})
			if m.Outcome != event.Done {
				p.c.t.Fatalf("%v: %s %s", m.Attempt, m.Reason, m.Stderr)
			}
			ends[m.Attempt] = m
			if kindOf(m.Attempt.Task) == job.MapTask {
				p.say(wire.Locate{Attempt: m.Attempt, Holder: p.hello.Node, Addr: p.hello.Addr})
			}
		default:
			p.c.t.Fatalf("the worker said %T", m)
		}
	}
	return ends
}

// next waits for the worker's next message.
func (p *peer) next() wire.Message {
	p.c.t.Helper()
	select {
	case m, ok := <-p.got:
		if !ok {
			p.c.t.Fatal("the worker hung up")
		}
		return m
	case <-time.After(patience):
		p.c.t.Fatal("the worker said nothing")
	}
	return nil
}

// scattered returns so many lines in no order: the numbers below 100,003, again and again.
func scattered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "%06d\n", i*7919%100_003)
	}
	return text.String()
}

// tallied is the input of tally, of which each map spills more than once in the least memory.
var tallied = sync.OnceValue(func() string { return scattered(900_000) })

// tally runs a job of six maps and five reduces on a worker of two cores, all at once, and returns its output.
func tally(t *testing.T, p *peer, n int, by *phaseByPhase) (string, map[job.Attempt]wire.Ended) {
	t.Helper()
	const maps, reduces = 6, 5
	text := tallied()
	s := streaming(t, text, []string{"cat"}, []string{"uniq", "-c"})
	if id := job.ID(fmt.Sprint("mr-", n)); id != s.ID {
		rename(t, s, id)
	}
	s.MapReduce.Reduces = reduces
	p.job(s, maps, reduces)
	var starts []*wire.Start
	for i := range reduces {
		starts = append(starts, startReduce(s, maps+i, 1))
	}
	size := int64(len(text)+maps-1) / maps
	for i := range maps {
		starts = append(starts, startMap(s, i, 1, split(s, i, size)))
	}
	ends := p.lead(by, func(task int) job.TaskKind { return s.Kind.TaskKind(maps, task) }, starts...)
	var out strings.Builder
	for i := range reduces {
		out.WriteString(read(t, filepath.Join(s.MapReduce.Output, fmt.Sprintf("part-%05d", i))))
	}
	return out.String(), ends
}

// A job whose attempts get a grant for one phase after the other, with whatever they are granted, has the
// output that it always has; and so has one with three times as many attempts as cores.
func TestLeavePhaseByPhase(t *testing.T) {
	_, p := startWorker(t)
	want, _ := tally(t, p, 1, nil)
	if lines := strings.Count(want, "\n"); lines != 100_003 {
		t.Fatalf("the output has %d lines", lines)
	}
	for seed := range uint64(3) {
		by := newPhaseByPhase(seed)
		got, ends := tally(t, p, int(seed)+2, by)
		if got != want {
			t.Errorf("seed %d: the output differs: %d bytes, not %d", seed, len(got), len(want))
		}
		merges := 0
		for at, m := range ends {
			asked := fmt.Sprint(by.asked[at])
			switch {
			case at.Task >= 6 && asked != "[sort reduce]", at.Task < 6 && asked != "[merge]" && asked != "[]":
				t.Errorf("seed %d: %v asked for a grant for %v", seed, at, asked)
			case asked == "[merge]":
				merges++
			}
			for i, st := range m.Stats {
				if st.Start > st.End || i > 0 && st.Start < m.Stats[i-1].End {
					t.Errorf("seed %d: phases of %v: %+v", seed, at, m.Stats)
				}
			}
		}
		if merges == 0 {
			t.Errorf("seed %d: no map asked for merge", seed)
		}
	}
}

// A bag task begins its command, and puts its output into place, only with a grant, for which it asks a coordinator that
// comes back again.
func TestBagPhaseByPhase(t *testing.T) {
	c, p := startWorker(t)
	s := shell(t, `echo {}; touch ran`)
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	first := start(at, "x")
	first.Through = job.PhaseFetch
	p.say(first)
	out := filepath.Join(s.Dir, "bag-1", "1.stdout")
	if m := expect[wire.GrantWanted](p); m.Phase != job.PhaseCompute {
		t.Fatalf("it asked for %v", m.Phase)
	}
	if _, err := os.Stat(filepath.Join(s.Dir, "ran")); err == nil {
		t.Error("it ran without a grant")
	}
	_ = p.conn.Close()
	p = c.welcome()
	if m := expect[wire.GrantWanted](p); m.Attempt != at || m.Phase != job.PhaseCompute {
		t.Fatalf("it asked again for %+v", m)
	}
	p.say(wire.Grant{Attempt: at, Phase: job.PhaseCompute})
	if m := expect[wire.GrantWanted](p); m.Phase != job.PhaseStore {
		t.Fatalf("it asked for %v", m.Phase)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("its output is in place without a grant")
	}
	p.say(wire.Grant{Attempt: at, Phase: job.PhaseStore})
	expect[wire.CommitWanted](p) // what it was started with is void by the break
	p.say(wire.Commit{Attempt: at})
	if m := p.ended(event.Done); len(m.Stats) != 3 {
		t.Errorf("phases: %+v", m.Stats)
	}
	if got := read(t, out); got != "x\n" {
		t.Errorf("output %q", got)
	}
}

// A task that waits for a grant holds no core: another has it meanwhile. What is killed while it waits ends.
func TestWaitsWithoutCores(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.CPUs = []int{0, 1}
	p, _ := c.worker(cfg)
	s := shell(t, `taskset -cp $$ | sed 's/.*: //'`)
	p.job(s, 0, 0)
	var waiting []job.Attempt
	for task := range 6 {
		m := start(try(s.ID, task, 1), "x")
		m.Through = job.PhaseFetch
		p.say(m)
		waiting = append(waiting, expect[wire.GrantWanted](p).Attempt)
	}
	p.say(start(try(s.ID, 6, 1), "x"))
	p.ended(event.Done)
	if got := read(t, filepath.Join(s.Dir, "bag-1", "7.stdout")); strings.ContainsAny(got, ",-") {
		t.Errorf("beside tasks that wait it ran on the cores %s", got)
	}
	p.say(wire.Kill{Attempt: waiting[0], Reason: "not wanted"})
	p.ended(event.Killed)
	for _, at := range waiting[1:] { // five computing at once, on two cores
		p.say(wire.Grant{Attempt: at, Phase: job.PhaseStore})
	}
	for range waiting[1:] {
		p.ended(event.Done)
	}
}

// What attempts hold together is never more than there is, but for the least of those that found nothing left.
func TestSupply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(1, 64).Draw(t, "cores")
		c := Config{WorkerConfig: wire.WorkerConfig{SortMemory: rapid.Int64Range(16<<20, 1<<40).Draw(t, "memory"), Capacity: job.Resources{CPUs: cores}}}
		s := newSupply(c)
		all := s.free
		for range cores {
			if m := s.take(0); m != s.share {
				t.Fatalf("as many attempts as cores get %+v, not %+v", m, s.share)
			}
		}
		for range cores {
			s.give(s.share)
		}
		for range 3 * cores {
			free, granted := s.free.Memory, rapid.Int64Range(0, 2*all.Memory).Draw(t, "granted")
			m := s.take(granted)
			if m.Memory < s.least.Memory || m.Files < 2 || m.Memory > max(free, s.least.Memory) {
				t.Fatalf("of %d bytes and with a grant of %d it got %+v", free, granted, m)
			}
			defer s.give(m)
		}
		if held := all.Memory - s.free.Memory; s.least.Memory > leastMemory && held > c.SortMemory*4/5 {
			t.Fatalf("%d bytes are held, with %d for all", held, c.SortMemory)
		}
	})
}

// A map sorts in what it was granted: in less memory it holds less.
func TestGrantOfMemory(t *testing.T) {
	_, p := startWorker(t)
	text := scattered(300_000)
	s := streaming(t, text, nil, count)
	s.MapReduce.Mapper = job.Program{Native: job.NativeIdentity}
	p.job(s, 4, 1)
	const least, some = leastMemory, 4 << 20
	for task, tt := range []struct{ granted, low, high int64 }{{0, some, 12 << 20}, {1, least / 2, least}, {some, some / 2, some}, {1 << 40, some, 24 << 20}} {
		m := startMap(s, task, 1, split(s, 0, int64(len(text))))
		m.Memory = tt.granted
		p.say(m)
		if held := p.ended(event.Done).Stats[0].PeakMemory; held < tt.low || held > tt.high {
			t.Errorf("with %d bytes granted the map held %d, not %d to %d", tt.granted, held, tt.low, tt.high)
		}
	}
}
