package process

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/sys/probe"
	"berth/test/support/seeds"
)

// ways are the ways in which a shell starts another one in the background. %s is the script of that.
var ways = map[string]string{
	"fork":    `sh %s &`,
	"exec":    `sh -c 'exec env A=1 nice sh %s' &`,
	"group":   `set -m; sh %s & set +m`,
	"session": `setsid sh %s &`,
	"bare":    `env -i sh %s &`,
	"orphan":  `(sh %s &)`,
	"daemon":  `(setsid env -i sh %s </dev/null >/dev/null 2>&1 &)`,
	"lost":    `(setsid sh -c 'env -i setsid sh %s & exit' &)`,
	"timeout": `timeout 1000 sh %s &`,
	"nohup":   `nohup sh %s >/dev/null 2>&1 &`,
	"zombie":  `sh -c 'true & sh %s & exec sleep 1000' &`,
}

// nodeMemory is what a process that takes memory has at least, bytes.
const nodeMemory = 4_000_000

// known are the ways in which what is started is known to belong to its program, whatever else runs, and unknown the others: that is an orphan
// without the environment, group and session of any process that was seen before.
var (
	known   = []string{"fork", "exec", "group", "session", "bare", "orphan", "timeout", "nohup", "zombie"}
	unknown = append([]string{"daemon", "lost"}, known...)
)

// tree is a random tree of processes in a folder of its own.
type tree struct {
	dir    string
	ways   []string // in which processes are started
	writes bool     // the processes write to a file, and do not sleep
	nodes  int      // processes of which each says that it runs
	large  int      // of these, those that take memory
}

// plantTree makes a tree.
func plantTree(t *rapid.T, dir string, ways []string, writes bool) *tree {
	tr := &tree{dir: dir, ways: ways, writes: writes}
	for _, name := range []string{"ready", "go"} {
		if err := unix.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tr.grow(t, 3)
	return tr
}

// grow writes the script of a node and of those below it, and returns its path.
func (tr *tree) grow(t *rapid.T, depth int) string {
	first := tr.nodes == 0
	path := filepath.Join(tr.dir, fmt.Sprintf("node%d.sh", tr.nodes))
	tr.nodes++
	var b strings.Builder
	if rapid.Bool().Draw(t, "deaf") {
		b.WriteString("trap '' TERM\n")
	}
	if rapid.IntRange(0, 3).Draw(t, "large") == 0 {
		tr.large++
		fmt.Fprintf(&b, "x=$(head -c %d /dev/zero | tr '\\0' x)\n", nodeMemory)
	}
	for range rapid.IntRange(0, 2).Draw(t, "children") {
		if depth > 0 && tr.nodes < 6 {
			way := rapid.SampledFrom(tr.ways).Draw(t, "way")
			fmt.Fprintf(&b, ways[way]+"\n", tr.grow(t, depth-1))
		}
	}
	fmt.Fprintf(&b, "echo %s > %s/ready\n", filepath.Base(path), tr.dir)
	switch {
	case tr.writes:
		fmt.Fprintf(&b, "while :; do echo x >> %s/written; sleep 0.01; done\n", tr.dir)
	case first:
		fmt.Fprintf(&b, "read x < %s/go\n", tr.dir)
	default:
		b.WriteString("sleep 1000\n:\n")
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// testCookie differs in each run of these tests: a run at the same time on this machine would kill the processes with its mark.
var testCookie = string(NewCookie("test"))

// run starts the tree and waits until all of its processes run. The channel receives how its program ended.
func (tr *tree) run(t *rapid.T, l *Lanes, s *Set, number int) <-chan Exit {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := os.OpenFile(filepath.Join(tr.dir, "ready"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ready.Close() }()
	env := append(os.Environ(), testCookie, "BERTH_JOB_ID=bag-1", fmt.Sprintf("BERTH_TASK_ID=%d", number), "BERTH_ATTEMPT=1")
	c := &Command{Path: "/bin/sh", Args: []string{"sh", filepath.Join(tr.dir, "node0.sh")}, Dir: tr.dir, Env: env, Grace: 20 * time.Millisecond, Idle: 20 * time.Millisecond}
	over := make(chan Exit, 1)
	l.Run(-1, func(*Lane) {
		e, err := s.Run(c, []uintptr{null.Fd(), null.Fd(), null.Fd()})
		_ = null.Close()
		if err != nil {
			e.err = err
		}
		over <- e
	})
	lines := bufio.NewScanner(ready)
	for range tr.nodes {
		lines.Scan()
	}
	for len(s.running()) == 0 { // it runs before the set knows
		runtime.Gosched()
	}
	return over
}

// alive returns the processes of the tree that live, by their command lines.
func (tr *tree) alive(t *rapid.T) (list []string) {
	pids, err := probe.PIDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if words, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && strings.Contains(string(words), tr.dir) {
			list = append(list, fmt.Sprintf("%d: %q", pid, words))
		}
	}
	return list
}

// TestFamilies: whatever trees of processes two programs build at the same time, a program that is killed, that exceeds a limit or that ends leaves none
// of them, nothing is written any more when its end is known, what they use is the sum over all of them, and the other program has lost none.
func TestFamilies(t *testing.T) {
	if err := Adopt(BatchVariables{}); err != nil {
		t.Fatal(err)
	}
	l, err := NewLanes()
	if err != nil {
		t.Fatal(err)
	}
	dirs, left := t.TempDir(), seeds.Count(t, 12)
	rapid.Check(t, func(t *rapid.T) {
		if left--; left < 0 && !t.Failed() { // each case starts a dozen processes
			return
		}
		programs, ways := rapid.IntRange(1, 2).Draw(t, "programs"), known
		if rapid.Bool().Draw(t, "all ways") {
			ways = unknown
		}
		end := rapid.SampledFrom([]string{"killed", "limited", "ended"}).Draw(t, "end")
		trees, sets, over := make([]*tree, programs), make([]Set, programs), make([]<-chan Exit, programs)
		for i := range trees {
			dir, err := os.MkdirTemp(dirs, "tree")
			if err != nil {
				t.Fatal(err)
			}
			trees[i] = plantTree(t, dir, ways, end == "killed")
			sets[i].Meter = probe.NewMeter(probe.Now)
			over[i] = trees[i].run(t, l, &sets[i], i)
			defer sets[i].Kill()
		}
		if rapid.Bool().Draw(t, "measured") {
			checkUse(t, trees[0], &sets[0])
		}
		finish(t, end, trees[0], &sets[0], over[0])
		if programs == 1 || len(ways) == len(known) {
			trees[0].gone(t, end)
		}
		if programs == 1 {
			return
		}
		if n := trees[1].running(t); n < trees[1].nodes {
			t.Errorf("of %d processes of another program %d are alive: %q", trees[1].nodes, n, trees[1].alive(t))
		}
		sets[1].Kill()
		<-over[1]
		trees[0].gone(t, "both")
		trees[1].gone(t, "both")
	})
}

// gone checks that no process of the tree lives and that none writes.
func (tr *tree) gone(t *rapid.T, end string) {
	written := func() int64 {
		st, err := os.Stat(filepath.Join(tr.dir, "written"))
		if err != nil {
			return 0
		}
		return st.Size()
	}
	was := written()
	if list := tr.alive(t); len(list) > 0 {
		t.Fatalf("%s, and these are left: %s", end, strings.Join(list, ", "))
	}
	if now := written(); now != was {
		t.Fatalf("%s, and %d bytes were written afterwards", end, now-was)
	}
}

// running returns how many nodes of the tree live.
func (tr *tree) running(t *rapid.T) (n int) {
	list := tr.alive(t)
	for i := range tr.nodes {
		if slices.ContainsFunc(list, func(who string) bool { return strings.Contains(who, fmt.Sprintf("%s/node%d.sh", tr.dir, i)) }) {
			n++
		}
	}
	return n
}

// checkUse checks what the processes of a tree use together, if all are known to belong to it. The memory of one counts with that of the others.
func checkUse(t *rapid.T, tr *tree, s *Set) {
	families, err := Families()
	if err != nil {
		t.Fatal(err)
	}
	s.Measured(Limits{}, families)
	for _, p := range s.running() {
		f := families[p]
		all := len(tr.ways) == len(known) // another orphan may be of a program that was over just before it began
		if all && len(f.Members) < tr.nodes {
			t.Errorf("%d processes are known of %d", len(f.Members), tr.nodes)
		}
		if all && f.RSS < int64(tr.large)*nodeMemory {
			t.Errorf("%d processes with memory use %d bytes", tr.large, f.RSS)
		}
		if s.Exceeded(Limits{Memory: 1}, time.Now(), families).Lack != event.LackMemory {
			t.Error("the limit of memory is not exceeded")
		}
	}
}

// finish ends a program and checks what it leaves.
func finish(t *rapid.T, end string, tr *tree, s *Set, over <-chan Exit) {
	switch end {
	case "killed":
		s.Kill()
	case "limited":
		f := s.Exceeded(Limits{Time: time.Nanosecond}, time.Now(), nil)
		if f == nil || f.Lack != event.LackTime {
			t.Fatalf("it ends with %v", f)
		}
		s.Kill()
	case "ended":
		if err := os.WriteFile(filepath.Join(tr.dir, "go"), []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
	}
	<-over
}
