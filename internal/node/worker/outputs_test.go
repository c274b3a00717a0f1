package worker

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/sys/statedir"
	"berth/internal/wire"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A task of a bag that says what it leaves finds its input, and only what it says is kept. It is done again as if it never was.
func TestOutputsAreKept(t *testing.T) {
	_, p := startWorker(t)
	s := bag(t, "gzip", "-k", "{}")
	s.Bag.Outputs = []string{"*.gz"}
	write(t, filepath.Join(s.Dir, "a"), "text")
	p.job(s, 0, 0)
	for n := 1; n <= 2; n++ {
		p.say(start(try(s.ID, 0, n), "a"))
		if r := p.ended(event.Done); !slices.Equal(r.Outputs, []string{"a.gz"}) {
			t.Errorf("it is said to have left %q", r.Outputs)
		}
		names(t, s.Dir, "a", "a.gz", "bag-1")
	}

	s = shell(t, `pwd >x.txt; echo $PWD; echo $BERTH_DIR; cat rel; touch {}.tmp`)
	s.ID, s.Bag.Outputs = "bag-2", []string{"{}.txt"}
	write(t, filepath.Join(s.Dir, "rel"), "relative\n")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "x"))
	p.ended(event.Done)
	names(t, s.Dir, "bag-2", "rel", "x.txt")
	in := filepath.Join(s.Dir, ".bag-2.0.1.outputs.part")
	if got := read(t, filepath.Join(s.Dir, "x.txt")); got != in+"\n" {
		t.Errorf("the task ran in %s", got)
	}
	if got, want := read(t, filepath.Join(s.Dir, "bag-2", "1.stdout")), in+"\n"+s.Dir+"\nrelative\n"; got != want {
		t.Errorf("it said %q, want %q", got, want)
	}
}

// Files that were in a folder before the job stay there when a task leaves that folder, and the first one tells. Those of other tasks of the job are
// not told, nor is a folder that a pattern only leads through.
func TestFolderOfTwoJobs(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, "mkdir -p res; echo new > res/{}")
	s.Bag.Outputs = []string{"res"}
	if err := os.MkdirAll(filepath.Join(s.Dir, "res/in"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"res/1", "res/2", "res/in/3"} {
		write(t, filepath.Join(s.Dir, name), "old")
	}
	run := statedir.Run{Dir: filepath.Join(p.c.dir, "run")}
	if err := os.MkdirAll(run.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	last, err := os.Stat(filepath.Join(s.Dir, "res/in/3"))
	if err != nil {
		t.Fatal(err)
	}
	for began := last.ModTime(); !began.After(last.ModTime()); { // times of files are those of the last clock tick
		if err := run.SaveSpec(s); err != nil {
			t.Fatal(err)
		}
		if began, err = run.Submitted(); err != nil {
			t.Fatal(err)
		}
	}
	p.job(s, 0, 0)
	for i, entry := range []string{"1", "4"} {
		p.say(start(try(s.ID, i, 1), entry))
		if r := p.ended(event.Done); strings.Contains(r.Warning, "2 files from before the job, such as res/2") != (i == 0) || i > 0 && r.Warning != "" {
			t.Errorf("after task %d: %q", i, r.Warning)
		}
	}
	names(t, filepath.Join(s.Dir, "res"), "1", "2", "4", "in")
	s.ID, s.Bag.Outputs = "bag-2", []string{"res/*"}
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "5"))
	if r := p.ended(event.Done); r.Warning != "" {
		t.Errorf("a folder on the way: %q", r.Warning)
	}
}

// What a task that failed has left is not put into place, nor is anything where nothing matches.
func TestOutputsOfFailures(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `touch b; {}`)
	s.Bag.Outputs = []string{"b", "c"}
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1), "exit 3"))
	p.ended(event.Failed)
	p.say(start(try(s.ID, 1, 1), "true"))
	if r := p.ended(event.Failed); !strings.Contains(r.Reason, "--outputs c") {
		t.Errorf("the reason is %q", r.Reason)
	}
	names(t, s.Dir, "bag-1")
}

// The next worker of a node removes the folder of a task whose worker was killed.
func TestOutputsOfAKilledWorker(t *testing.T) {
	c := newCoord(t)
	cfg := c.config("a1/0")
	p, cmd := c.process(cfg)
	s := shell(t, `echo $$ >begun; read x <hold`)
	s.Bag.Outputs = []string{"out"}
	begun := fifo(t, s.Dir, "begun")
	fifo(t, s.Dir, "hold")
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	hear(t, begun)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	names(t, s.Dir, ".bag-1.0.1.outputs.part", "bag-1", "begun", "hold")
	c.process(cfg)
	names(t, s.Dir, "bag-1", "begun", "hold")
}

// The next workers of the nodes remove what attempts of one task have printed whose workers were killed, also if one of them was about to
// remove what the others left, and nothing else.
func TestPrintedByKilledWorkers(t *testing.T) {
	c := newCoord(t)
	s := shell(t, `echo $BERTH_ATTEMPT; echo $BERTH_ATTEMPT >&2`)
	s.Bag.Stderr = "errors/{#}"
	var peers []*peer
	var workers []*exec.Cmd
	for n, node := range []job.NodeID{"a1/0", "a1/1"} {
		p, cmd := c.process(c.config(node))
		p.job(s, 0, 0)
		m := start(try(s.ID, 0, n+1))
		m.Commit = false
		p.say(m)
		expect[wire.CommitWanted](p)
		peers, workers = append(peers, p), append(workers, cmd)
	}
	names(t, filepath.Join(s.Dir, "bag-1"), ".1.stdout.bag-1.0.1.part", ".1.stdout.bag-1.0.2.part")
	names(t, filepath.Join(s.Dir, "errors"), ".1.bag-1.0.1.part", ".1.bag-1.0.2.part")
	peers[1].say(wire.Commit{Attempt: try(s.ID, 0, 2)})
	if m := expect[wire.Ended](peers[1]); m.Outcome != event.Done { // which is not acknowledged
		t.Fatalf("it ended as %+v", m)
	}
	for i, cmd := range workers {
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		c.process(c.config(peers[i].hello.Node))
	}
	names(t, filepath.Join(s.Dir, "bag-1"), "1.stdout")
	names(t, filepath.Join(s.Dir, "errors"), "1")
}

// Of two attempts at one task, on two nodes, both come to their end; the one that is granted the commit leaves its output,
// and of the other one nothing stays, in whatever order they end and even if its worker is killed.
func TestDuplicatesCommitOnce(t *testing.T) {
	for _, how := range []string{"loser is killed", "loser's worker dies"} {
		t.Run(how, func(t *testing.T) {
			c := newCoord(t)
			loser, cmd := c.process(c.config("a1/0"))
			winner, end := c.worker(c.config("a1/1"))
			s := shell(t, `echo $BERTH_ATTEMPT; echo $BERTH_ATTEMPT >a; echo $BERTH_ATTEMPT >b`)
			s.Bag.Outputs = []string{"a", "b"}
			var attempts []job.Attempt
			for n, p := range []*peer{loser, winner} {
				p.job(s, 0, 0)
				m := start(try(s.ID, 0, n+1))
				m.Commit = false
				attempts = append(attempts, m.Attempt)
				p.say(m)
				if w := expect[wire.CommitWanted](p); w.Attempt != m.Attempt {
					t.Fatalf("commit is wanted for %v", w.Attempt)
				}
			}
			names(t, s.Dir, ".bag-1.0.1.outputs.part", ".bag-1.0.2.outputs.part", "bag-1")
			winner.say(wire.Commit{Attempt: attempts[1]})
			if how == "loser is killed" {
				loser.say(wire.Kill{Attempt: attempts[0], Reason: "another attempt was faster"})
				loser.ended(event.Killed)
			} else if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			winner.ended(event.Done)
			if err := end(); err != nil { // what is done after an end is done then
				t.Error(err)
			}
			names(t, s.Dir, "a", "b", "bag-1")
			names(t, filepath.Join(s.Dir, "bag-1"), "1.stdout")
			for _, file := range []string{"a", "b", "bag-1/1.stdout"} {
				if got := read(t, filepath.Join(s.Dir, file)); got != "2\n" {
					t.Errorf("%s was written by attempt %s", file, got)
				}
			}
		})
	}
}
