package worker

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/step"
	"berth/internal/wire"
)

// gangOf starts workers of one machine with so many ranks each, and returns their sessions and the message for the first one.
func gangOf(t *testing.T, s *job.Spec, ranks ...int) (peers []*peer, ends []func() error, m *wire.Start) {
	t.Helper()
	c := newCoord(t)
	m = start(try(s.ID, 0, 1))
	m.Commit = false
	for i, n := range ranks {
		node := job.NodeID(fmt.Sprintf("a1/%d", i))
		p, end := c.worker(c.config(node))
		m.Gang = append(m.Gang, step.Share{Share: event.Share{Node: node, Ranks: n}, Host: p.hello.Host, Addr: p.hello.Addr})
		peers, ends = append(peers, p), append(ends, end)
		s.Bag.Ranks += n
	}
	for i, p := range peers {
		p.job(s, 0, 0)
		if i > 0 {
			p.say(wire.Join{Attempt: m.Attempt})
		}
	}
	peers[0].say(m)
	return peers, ends, m
}

// commits lets the first node put into place what the gang has printed, and waits for its end.
func (p *peer) commits(want event.Outcome) wire.Ended {
	p.c.t.Helper()
	m := expect[wire.CommitWanted](p)
	p.say(wire.Commit{Attempt: m.Attempt})
	return p.ended(want)
}

// second returns the name that launchers know the second of several workers on this machine by.
func second(t *testing.T) string {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, domain, _ := strings.Cut(host, ".")
	if domain != "" {
		domain = "." + domain
	}
	return short + "-2" + domain
}

// TestAgent: the agent runs a command on another node as ssh does, with its standard files and its exit status, and the command
// can go on to further nodes.
func TestAgent(t *testing.T) {
	s := shell(t, `set -u
		echo "$BERTH_RANKS ranks on $BERTH_NODES nodes"
		sort "$BERTH_HOSTFILE" | uniq -c | awk '{print $1}'
		last=$(tail -n 1 "$BERTH_HOSTFILE")
		printf 'a\nb\n' | "$BERTH_LAUNCH" -x -o BatchMode=yes "$1" 'cat; echo "$BERTH_NODE" | cut -d. -f1; echo to err >&2; echo '"'$last'"'; "$BERTH_LAUNCH" '"$last"' '"'"'echo "$BERTH_NODE" | cut -d. -f1'"'"'; exit 7'
		echo "status $?"
		"$BERTH_LAUNCH" "$(head -n 1 "$BERTH_HOSTFILE")" 'echo at home'
		"$BERTH_LAUNCH" elsewhere true
		echo "status $?"`)
	s.Bag.Command[0] = strings.ReplaceAll(s.Bag.Command[0], `"$1"`, second(t))
	peers, _, _ := gangOf(t, s, 2, 1, 1)
	m := peers[0].commits(event.Done)
	host := strings.TrimSuffix(second(t), "-2")
	want := "4 ranks on 3 nodes\n2\n1\n1\na\nb\na1/1\n" + strings.Replace(second(t), "-2", "-3", 1) + "\na1/2\nstatus 7\nat home\nstatus 255\n"
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")); got != want {
		t.Errorf("it printed %q, want %q (%s)", got, want, host)
	}
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stderr")); got != "to err\nberth-launch: elsewhere is not a node of this task; $BERTH_HOSTFILE lists them\n" {
		t.Errorf("it printed %q to its standard error", got)
	}
	if len(m.Shares) != 3 || m.Shares[1].Node != "a1/1" || m.Shares[1].CPU == 0 {
		t.Errorf("the shares used %+v", m.Shares)
	}
}

// TestGangLeavesNothing: whatever ends a gang, a process that has left its session on another node ends with it.
func TestGangLeavesNothing(t *testing.T) {
	const remote = `"$BERTH_LAUNCH" HOST 'setsid sh -c "echo \$\$ > there; exec sleep 1000" >/dev/null 2>&1 & while ! [ -s there ]; do sleep 0.01; done; cat there > told; exec sleep 1000' &
		"$BERTH_LAUNCH" HOST 'cat told > pid'; wait`
	for name, end := range map[string]func(t *testing.T, peers []*peer, ends []func() error, at job.Attempt){
		"killed": func(_ *testing.T, peers []*peer, _ []func() error, at job.Attempt) {
			peers[0].say(wire.Kill{Attempt: at, Reason: "cancelled"})
			peers[0].ended(event.Killed)
		},
		"share retires": func(_ *testing.T, peers []*peer, ends []func() error, _ job.Attempt) {
			go func() { _ = ends[1]() }()
			expect[*wire.Retiring](peers[1])
			peers[1].ended(event.Lost)
			peers[0].ended(event.Lost)
		},
		"left": func(_ *testing.T, peers []*peer, _ []func() error, at job.Attempt) {
			peers[1].say(wire.Leave{Attempt: at})
			peers[0].commits(event.Done) // its script waits for nothing else
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := shell(t, strings.ReplaceAll(remote, "HOST", second(t)))
			fifo(t, s.Dir, "told")
			pid := fifo(t, s.Dir, "pid")
			peers, ends, m := gangOf(t, s, 1, 1)
			n, err := strconv.Atoi(strings.TrimSpace(hear(t, pid)))
			if err != nil {
				t.Fatal(err)
			}
			if unix.Kill(n, 0) != nil {
				t.Fatal("the process has ended already")
			}
			end(t, peers, ends, m.Attempt)
			awaitDeath(t, n)
		})
	}
}

// pair starts two workers, of which the second is a process of its own and has not been told of its share, and returns the message for the first one.
func pair(t *testing.T, s *job.Spec) (first, other *peer, cmd *exec.Cmd, m *wire.Start) {
	t.Helper()
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Grace = time.Millisecond // it is part of the time that it waits for the other one
	first, _ = c.worker(cfg)
	other, cmd = c.process(c.config("a1/1"))
	s.Bag.Ranks = 2
	m = start(try(s.ID, 0, 1))
	m.Commit = false
	for i, p := range []*peer{first, other} {
		m.Gang = append(m.Gang, step.Share{Share: event.Share{Node: job.NodeID(fmt.Sprintf("a1/%d", i)), Ranks: 1}, Host: p.hello.Host, Addr: p.hello.Addr})
		p.job(s, 0, 0)
	}
	return first, other, cmd, m
}

// TestKilledWithoutShare: an attempt that is killed does not wait for a node that knows nothing of its share.
func TestKilledWithoutShare(t *testing.T) {
	first, _, _, m := pair(t, shell(t, "true"))
	began := time.Now()
	first.say(m, wire.Kill{Attempt: m.Attempt, Reason: "cancelled"})
	first.ended(event.Killed)
	if time.Since(began) >= joinPatience {
		t.Error("it has waited for the share")
	}
}

// TestStoppedShare: the worker of another node does not answer when the command has ended. The attempt is done all the same.
func TestStoppedShare(t *testing.T) {
	t.Parallel() // it waits for disbandPatience
	s := shell(t, `echo > ready; cat go`)
	ready := fifo(t, s.Dir, "ready")
	fifo(t, s.Dir, "go")
	first, other, cmd, m := pair(t, s)
	other.say(wire.Join{Attempt: m.Attempt})
	first.say(m)
	hear(t, ready)
	if err := cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), nil, 0); err != nil {
		t.Fatal(err)
	}
	first.commits(event.Done)
}

// TestLostShare: the worker of another node is killed; the attempt is lost, and not failed.
func TestLostShare(t *testing.T) {
	s := shell(t, `"$BERTH_LAUNCH" `+second(t)+` 'echo > ready; exec sleep 1000'; exit 3`)
	ready := fifo(t, s.Dir, "ready")
	first, other, cmd, m := pair(t, s)
	other.say(wire.Join{Attempt: m.Attempt})
	first.say(m)
	hear(t, ready)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if e := first.ended(event.Lost); !strings.Contains(e.Reason, "was lost") {
		t.Errorf("the reason is %q", e.Reason)
	}
}

// TestLostFirst: the worker of the first node is killed. What the gang has started on another node ends at once, whatever it does about SIGTERM: the time that it
// would have otherwise does not pass in this test.
func TestLostFirst(t *testing.T) {
	s := shell(t, `"$BERTH_LAUNCH" `+second(t)+` 'trap "" TERM; echo $$ > pid; exec sleep 1000'`)
	pid := fifo(t, s.Dir, "pid")
	c := newCoord(t)
	first, cmd := c.process(c.config("a1/0"))
	other, _ := c.worker(c.config("a1/1"))
	s.Bag.Ranks = 2
	m := start(try(s.ID, 0, 1))
	m.Commit = false
	for i, p := range []*peer{first, other} {
		m.Gang = append(m.Gang, step.Share{Share: event.Share{Node: job.NodeID(fmt.Sprintf("a1/%d", i)), Ranks: 1}, Host: p.hello.Host, Addr: p.hello.Addr})
		p.job(s, 0, 0)
	}
	other.say(wire.Join{Attempt: m.Attempt})
	first.say(m)
	n, err := strconv.Atoi(strings.TrimSpace(hear(t, pid)))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, n)
}

// TestShareMemory: a share may use the memory of its ranks together; if it uses more, the attempt has run out of memory.
func TestShareMemory(t *testing.T) {
	s := shell(t, `"$BERTH_LAUNCH" `+second(t)+` 'head -c 300m /dev/zero | tail | sleep 1000' & wait`)
	s.Bag.Need.Mem = 100 << 20 // with -race the agent itself has much
	peers, _, _ := gangOf(t, s, 1, 2)
	if e := peers[0].commits(event.Failed); e.Lack != event.LackMemory || !strings.Contains(e.Reason, "of its 200M of memory") {
		t.Errorf("it ended with %+v", e)
	}
}

// TestEachRank: the command runs on every rank, each with its number and files of its own.
func TestEachRank(t *testing.T) {
	s := shell(t, `echo "$BERTH_RANK $BERTH_LOCAL_RANK $RANK $LOCAL_RANK $WORLD_SIZE ${BERTH_NODE%.*} ${MASTER_ADDR:?} ${MASTER_PORT:?}" | sed 's/ [0-9.]* [0-9]*$//'`)
	s.Bag.EachRank, s.Bag.Stdout, s.Bag.Stderr = true, "", ""
	s.Normalize()
	peers, _, _ := gangOf(t, s, 2, 1)
	peers[0].commits(event.Done)
	for r, want := range []string{"0 0 0 0 3 a1/0\n", "1 1 1 1 3 a1/0\n", "2 0 2 0 3 a1/1\n"} {
		if got := read(t, filepath.Join(s.Dir, "bag-1", fmt.Sprintf("1.%d.stdout", r))); got != want {
			t.Errorf("rank %d printed %q, want %q", r, got, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "bag-1", ".*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// TestRankFails: the first rank that fails ends the others, and its failure is that of the attempt.
func TestRankFails(t *testing.T) {
	s := shell(t, `[ $BERTH_RANK = 2 ] || exec sleep 1000; echo no >&2; exit 9`)
	s.Bag.EachRank, s.Bag.Stdout, s.Bag.Stderr = true, "", ""
	s.Normalize()
	peers, _, _ := gangOf(t, s, 2, 1)
	if e := peers[0].commits(event.Failed); e.Exit != 9 || e.Reason != "rank 2: exit status 9" || e.Stderr != "no" {
		t.Errorf("it ended with %+v", e)
	}
	if got := read(t, filepath.Join(s.Dir, "bag-1", "1.2.stderr")); got != "no\n" {
		t.Errorf("the rank's file has %q", got)
	}
}

// TestTimeLimitOfGang: the time limit ends the processes on all nodes.
func TestTimeLimitOfGang(t *testing.T) {
	s := shell(t, `"$BERTH_LAUNCH" `+second(t)+` 'echo $$ > pid; exec sleep 1000'`)
	s.Bag.TimeLimit = 2 * time.Second
	pid := fifo(t, s.Dir, "pid")
	peers, _, _ := gangOf(t, s, 1, 1)
	n, _ := strconv.Atoi(strings.TrimSpace(hear(t, pid)))
	if e := peers[0].commits(event.Failed); e.Lack != event.LackTime {
		t.Errorf("it ended with %+v", e)
	}
	awaitDeath(t, n)
}

// TestTimeLimitOfRank: the time limit ends a rank on another node when those on the first one have ended.
func TestTimeLimitOfRank(t *testing.T) {
	s := shell(t, `[ $BERTH_RANK = 0 ] || exec sleep 1000`)
	s.Bag.EachRank, s.Bag.TimeLimit = true, 300*time.Millisecond
	peers, _, _ := gangOf(t, s, 1, 1)
	if e := peers[0].commits(event.Failed); e.Lack != event.LackTime {
		t.Errorf("it ended with %+v", e)
	}
}

// TestRankLeaves: what a rank leaves that has its output open ends as it does with other tasks.
func TestRankLeaves(t *testing.T) {
	s := shell(t, `sleep 1000 & echo done`)
	s.Bag.EachRank = true
	peers, _, _ := gangOf(t, s, 2)
	if e := peers[0].commits(event.Done); !strings.Contains(e.Left, "sleep") {
		t.Errorf("it ended with %+v", e)
	}
}

// TestOneRank: a task that has one rank is told of it as others are of several, and starts the same way; so is one that does not say how many it
// has, as the command of its bag is written for ranks.
func TestOneRank(t *testing.T) {
	for _, ranks := range []int{0, 1} {
		c := newCoord(t)
		p, _ := c.worker(c.config("a1/0"))
		s := shell(t, `"$BERTH_LAUNCH" "$(cat "$BERTH_HOSTFILE")" "echo $BERTH_RANK of $BERTH_RANKS on $BERTH_NODES"`)
		s.Bag.EachRank, s.Bag.Ranks = true, ranks
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		if m := p.ended(event.Done); m.Shares != nil {
			t.Errorf("the shares used %+v", m.Shares)
		}
		if got := read(t, filepath.Join(s.Dir, "bag-1", "1.stdout")); got != "0 of 1 on 1\n" {
			t.Errorf("it printed %q", got)
		}
	}
}

// TestSignalOfRanks: the programs of ranks get the signal before their time is over, on all nodes.
func TestSignalOfRanks(t *testing.T) {
	s := shell(t, `trap 'echo kept; exit 0' USR1; echo > ready$BERTH_RANK; while :; do sleep 0.01; done`)
	s.Bag.EachRank, s.Bag.Stdout, s.Bag.Stderr = true, "", ""
	s.Bag.Signal, s.Bag.SignalLead = int(unix.SIGUSR1), time.Hour
	s.Normalize()
	ready := []string{fifo(t, s.Dir, "ready0"), fifo(t, s.Dir, "ready1")}
	peers, _, _ := gangOf(t, s, 1, 1)
	for _, r := range ready {
		hear(t, r)
	}
	for _, p := range peers {
		p.say(&wire.Ends{Left: time.Minute})
	}
	peers[0].commits(event.Done)
	for _, file := range []string{"1.0.stdout", "1.1.stdout"} {
		if got := read(t, filepath.Join(s.Dir, "bag-1", file)); got != "kept\n" {
			t.Errorf("%s has %q", file, got)
		}
	}
}
