package worker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/wire"
)

// otherDisk returns a folder on another file system than that of tests' folders, or skips the test.
func otherDisk(t *testing.T) string {
	t.Helper()
	const memory = "/dev/shm"
	var here, there unix.Stat_t
	if err := unix.Stat(t.TempDir(), &here); err != nil {
		t.Fatal(err)
	}
	if err := unix.Stat(memory, &there); err != nil || here.Dev == there.Dev {
		t.Skipf("%s is no other file system than that of temporary files: %v", memory, err)
	}
	dir, err := os.MkdirTemp(memory, "berth-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// local returns a worker's config with a folder on its own disk, and a bag whose tasks run there.
func local(t *testing.T, disk, script string) (*coord, Config, *job.Spec) {
	t.Helper()
	c := newCoord(t)
	cfg := c.config("a1/0")
	cfg.Local = filepath.Join(disk, "own")
	s := shell(t, script)
	s.Bag.Local = true
	return c, cfg, s
}

// fetched returns the bytes that an attempt fetched.
func fetched(r event.AttemptEnded) (bytes int64) {
	for _, s := range r.Stats {
		if s.Phase == job.PhaseFetch {
			bytes += s.NetBytes
		}
	}
	return bytes
}

// A task runs on the node's own disk, with a copy of its input that tasks share, and what it leaves is brought back. Nothing stays there.
func TestOwnDisk(t *testing.T) {
	disk := otherDisk(t)
	c, cfg, s := local(t, disk, `pwd >out/{}; cat ref >>out/{}; echo $BERTH_DIR; touch other; chmod 710 out/{}; ln -s none out/{}.link`)
	s.Bag.Outputs = []string{"out/{}*"}
	p, end := c.worker(cfg)
	write(t, filepath.Join(s.Dir, "ref"), "text")
	p.job(s, 0, 0)
	for i, entry := range []string{"a", "b"} {
		p.say(start(try(s.ID, i, 1), entry))
		r := p.ended(event.Done)
		if n := fetched(r.AttemptEnded); n != int64(4-4*i) {
			t.Errorf("task %d copied %d bytes", i, n)
		}
		dir, text, _ := strings.Cut(read(t, filepath.Join(s.Dir, "out", entry)), "\n")
		if !strings.HasPrefix(dir, cfg.Local) || text != "text" {
			t.Errorf("it ran in %s and read %q", dir, text)
		}
		if said := read(t, filepath.Join(s.Dir, "bag-1", string('1'+rune(i))+".stdout")); said != dir+"\n" {
			t.Errorf("it said %q", said)
		}
		if st, err := os.Stat(filepath.Join(s.Dir, "out", entry)); err != nil || st.Mode() != 0o710 {
			t.Errorf("what it left has another mode: %v, %v", st, err)
		}
		if to, err := os.Readlink(filepath.Join(s.Dir, "out", entry+".link")); to != "none" || err != nil {
			t.Errorf("the link that it left leads to %q, %v", to, err)
		}
	}
	names(t, s.Dir, "bag-1", "out", "ref")
	p.say(wire.Forget{Job: s.ID})
	p.say(start(try("bag-2", 0, 1))) // a job that the worker does not know
	p.ended(event.Broken)
	on := cfg
	on.Scratch = filepath.Join(cfg.Local, "local/nodes")
	names(t, scratchFolder(on), "lock", "tasks")
	if err := end(); err != nil {
		t.Fatal(err)
	}
	names(t, cfg.Local)
}

// What a task on the node's own disk lacks or leaves without a word of its job is an error that says so, and nothing of it is put into place.
func TestOwnDiskErrors(t *testing.T) {
	disk := otherDisk(t)
	for _, c := range []struct {
		script, says    string
		inputs, outputs []string
		outcome         event.Outcome
	}{
		{"true", "nothing in", []string{"ref*"}, nil, event.Failed},
		{"true", "the task left nothing that matches --outputs made", nil, []string{"made"}, event.Failed},
		{"touch made", "the task left made, which host", nil, nil, event.Broken},
	} {
		o, cfg, s := local(t, disk, c.script)
		s.Bag.Inputs, s.Bag.Outputs = c.inputs, c.outputs
		p, _ := o.worker(cfg)
		p.job(s, 0, 0)
		p.say(start(try(s.ID, 0, 1)))
		if r := p.ended(c.outcome); !strings.Contains(r.Reason, c.says) {
			t.Errorf("%s: the reason is %q, want %q", c.script, r.Reason, c.says)
		}
		if left, err := filepath.Glob(filepath.Join(s.Dir, "*/*")); len(left) > 0 || err != nil || exists(filepath.Join(s.Dir, "made")) {
			t.Errorf("%s: it left %v, %v", c.script, left, err)
		}
	}
}

// An attempt whose input has no room on the node's own disk is lost, with a reason that says where and what to do, and another disk is of use.
func TestOwnDiskFull(t *testing.T) {
	c, cfg, s := local(t, small(t, "1m"), "cat ref | wc -c >out")
	s.Bag.Outputs = []string{"out"}
	write(t, filepath.Join(s.Dir, "ref"), strings.Repeat("x", 2<<20))
	p, _ := c.worker(cfg)
	p.job(s, 0, 0)
	p.say(start(try(s.ID, 0, 1)))
	if r := p.ended(event.Lost); !strings.Contains(r.Reason, cfg.Local) || !strings.Contains(r.Reason, "the disk is too small") || !strings.Contains(r.Reason, "--scratch") {
		t.Errorf("the reason is %q", r.Reason)
	}
	names(t, s.Dir, "ref")
}

// A node without a disk of its own runs tasks in the job's folder, copies nothing, and says so once.
func TestNoOwnDisk(t *testing.T) {
	c, cfg, s := local(t, t.TempDir(), "pwd; cat ref")
	write(t, filepath.Join(s.Dir, "ref"), "text")
	p, _ := c.worker(cfg)
	p.job(s, 0, 0)
	for i := range 2 {
		p.say(start(try(s.ID, i, 1)))
		r := p.ended(event.Done)
		if said := strings.Contains(r.Warning, "--local has no effect: "+cfg.Local); said != (i == 0) || fetched(r.AttemptEnded) > 0 {
			t.Errorf("task %d: the warning is %q, and %d bytes were copied", i, r.Warning, fetched(r.AttemptEnded))
		}
	}
	if got, want := read(t, filepath.Join(s.Dir, "bag-1/2.stdout")), s.Dir+"\ntext"; got != want {
		t.Errorf("it said %q, want %q", got, want)
	}
}

// A task whose job's folder is not there does not run without its inputs.
func TestOwnDiskWithoutJob(t *testing.T) {
	c, cfg, s := local(t, otherDisk(t), "cat ref* | wc -l")
	p, _ := c.worker(cfg)
	p.job(s, 0, 0)
	if err := os.RemoveAll(s.Dir); err != nil {
		t.Fatal(err)
	}
	p.say(start(try(s.ID, 0, 1)))
	if r := p.ended(event.Failed); !strings.Contains(r.Reason, "the job's folder "+s.Dir+" cannot be found") {
		t.Errorf("the reason is %q", r.Reason)
	}
}

// The inputs that a worker left which was killed while it removed them are removed by the next worker.
func TestOwnDiskLeft(t *testing.T) {
	c, cfg, _ := local(t, t.TempDir(), "true")
	for _, name := range []string{"files/contents", "files.old/contents"} {
		if err := os.MkdirAll(filepath.Join(cfg.Local, "local", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	_, end := c.worker(cfg)
	if err := end(); err != nil {
		t.Fatal(err)
	}
	names(t, cfg.Local)
}

// What a killed worker left on the node's own disk and beside outputs is removed by the next worker of its node.
func TestOwnDiskOfKilledWorker(t *testing.T) {
	c, cfg, s := local(t, otherDisk(t), "touch out; echo begun > {}; sleep 1000")
	s.Bag.Outputs = []string{"out"}
	p, cmd := c.process(cfg)
	p.job(s, 0, 0)
	begun := fifo(t, t.TempDir(), "begun")
	m := start(try(s.ID, 0, 1), begun)
	m.Commit = false // another attempt may be at work, and does not remove what this one leaves
	p.say(m)
	hear(t, begun)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	p.gone()
	on := cfg
	on.Scratch = filepath.Join(cfg.Local, "local/nodes")
	task := filepath.Join(scratchFolder(on), string(s.ID), "0.1")
	names(t, task, "work")
	_, end := c.worker(cfg)
	if exists(task) {
		t.Errorf("%s stays", task)
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	names(t, cfg.Local)
	names(t, filepath.Join(s.Dir, "bag-1"))
}
