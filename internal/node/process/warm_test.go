package process

import (
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
)

// warmth runs programs of Python with and without a server.
type warmth struct {
	dir    string
	python string
	lanes  *Lanes
	warm   Warm
	log    strings.Builder
	n      int
}

// newWarmth returns one with further modules, each a text.
func newWarmth(t *testing.T, modules map[string]string) *warmth {
	python, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		t.Skip("there is no python3")
	}
	if err := Adopt(BatchVariables{}); err != nil {
		t.Fatal(err)
	}
	w := &warmth{dir: t.TempDir(), python: strings.TrimSpace(string(python))}
	w.warm.Loads, w.warm.Log = time.Minute, slog.New(slog.NewTextHandler(&w.log, nil))
	for name, text := range modules {
		if err := os.WriteFile(filepath.Join(w.dir, name+".py"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if w.lanes, err = NewLanes(); err != nil {
		t.Fatal(err)
	}
	return w
}

// ran is what a task has printed, and how it ended.
type ran struct {
	out, errs string
	how       *Failure
	drawn, by string // a random number, and the word of the command line that is the module which the process was started with
}

// run runs warmtask to an end, forked if there are modules that are loaded before.
func (w *warmth) run(t *testing.T, end, modules string) (r ran) {
	t.Helper()
	w.n++
	own, source, err := [2]string{}, "../../../python/src", error(nil)
	for i, path := range []string{"testdata/warm", source} {
		if own[i], err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
	}
	path := func(name string) string { return filepath.Join(w.dir, name) }
	if err := os.WriteFile(path("in"), []byte("input"), 0o600); err != nil {
		t.Fatal(err)
	}
	var files [3]*os.File
	for i, name := range []string{"in", "out", "err"} {
		flags := os.O_RDWR | os.O_CREATE
		if i > 0 {
			flags |= os.O_TRUNC
		}
		if files[i], err = os.OpenFile(path(name), flags, 0o600); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = files[i].Close() }()
	}
	env := append(os.Environ(), "PYTHONPATH="+strings.Join(append(own[:], w.dir), ":"), "PYTHONDONTWRITEBYTECODE=1", testCookie, "BERTH_JOB_ID=bag-1", "BERTH_TASK_ID=1", "BERTH_ATTEMPT=1")
	env = Merge(env, []string{"BERTH_TASK_ID=2", "LANG=C", "LC_ALL="})
	args := []string{"python3", "-m", "warmtask", end, path("started"), w.dir}
	c := &Command{Path: w.python, Args: args, Dir: w.dir, Env: env, Grace: time.Second, Idle: time.Second, Modules: modules}
	if modules != "" {
		c.Warm = &w.warm
	}
	s := &Set{Meter: probe.NewMeter(probe.Now)}
	over := make(chan Exit, 1)
	w.lanes.Run(0o27, func(ln *Lane) {
		ln.Bind([]int{firstCore(t)})
		e, err := s.Run(c, []uintptr{files[0].Fd(), files[1].Fd(), files[2].Fd()})
		if err != nil {
			t.Error(err)
		}
		over <- e
	})
	r.how = ExitFailure(<-over)
	for name, to := range map[string]*string{"out": &r.out, "err": &r.errs, "started": &r.drawn} {
		text, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		*to = string(text)
	}
	r.drawn, r.by, _ = strings.Cut(r.drawn, " ")
	return r
}

// firstCore returns a core that this process may use.
func firstCore(t *testing.T) int {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Error(err)
	}
	for i := 0; ; i++ {
		if all.IsSet(i) {
			return i
		}
	}
}

// differences returns the lines that only one of two texts has.
func differences(a, b string) string {
	var d strings.Builder
	one, other := strings.Split(a, "\n"), strings.Split(b, "\n")
	for _, line := range one {
		if !slices.Contains(other, line) {
			d.WriteString("- " + line + "\n")
		}
	}
	for _, line := range other {
		if !slices.Contains(one, line) {
			d.WriteString("+ " + line + "\n")
		}
	}
	return d.String()
}

// TestWarm: a program that is forked sees what it sees if it is started plainly, ends in the same way, leaves nothing, and draws random
// numbers of its own.
func TestWarm(t *testing.T) {
	w, drawn := newWarmth(t, nil), make(map[string]bool)
	for _, end := range []string{"exit", "raise", "INT", "KILL", "daemon"} {
		plain, forked := w.run(t, end, ""), w.run(t, end, "warmtask,json,absent")
		if plain.by != "warmtask" || forked.by != "berth.warm" {
			t.Fatalf("%s: started by %q and %q; %s", end, plain.by, forked.by, w.log.String())
		}
		if plain.out != forked.out || !strings.Contains(plain.out, `"input": "input"`) {
			t.Errorf("%s: plainly it prints otherwise than forked:\n%s", end, differences(plain.out, forked.out))
		}
		if plain.errs != forked.errs || plain.how == nil || *plain.how != *forked.how {
			t.Errorf("%s: plainly it ends with %v\n%s\nand forked with %v\n%s", end, plain.how, plain.errs, forked.how, forked.errs)
		}
		drawn[plain.drawn], drawn[forked.drawn] = true, true
	}
	if len(drawn) != 10 {
		t.Errorf("ten processes drew %d random numbers", len(drawn))
	}
	if len(w.warm.servers) != 1 || w.log.Len() > 0 {
		t.Errorf("%d servers: %s", len(w.warm.servers), w.log.String())
	}
	for _, s := range w.warm.servers {
		if err := unix.Shutdown(s.line, unix.SHUT_RDWR); err != nil {
			t.Error(err)
		}
	}
	if again := w.run(t, "exit", "warmtask,json,absent"); again.how == nil || again.how.Exit != 7 { // forked, if it is known already that the server ends
		t.Errorf("while the server ends, a program ends with %v", again.how)
	}
	if again := w.run(t, "exit", "warmtask,json,absent"); again.by != "berth.warm" {
		t.Errorf("after the server has ended, a program is started by %q", again.by)
	}
}

// TestWarmChanged: a module that has changed since it was loaded is not what a task gets, and one that was made since is there, also if the time of
// its folder does not tell.
func TestWarmChanged(t *testing.T) {
	w := newWarmth(t, map[string]string{"edited": "text = 'before'"})
	by := func() string { return w.run(t, "exit", "warmtask,edited").by }
	w.run(t, "exit", "") // makes the files of tasks
	folder, err := os.Stat(w.dir)
	if got := by(); err != nil || got != "berth.warm" {
		t.Fatalf("a program is started by %q; %v; %s", got, err, w.log.String())
	}
	err = os.WriteFile(filepath.Join(w.dir, "later.py"), nil, 0o600)
	if err = errors.Join(err, os.Chtimes(w.dir, time.Time{}, folder.ModTime())); err != nil {
		t.Fatal(err)
	}
	if r := w.run(t, "exit", "warmtask,edited"); r.by != "berth.warm" || !strings.Contains(r.out, `"later": true`) {
		t.Errorf("a module that was made later is not there for a program that is started by %q:\n%s", r.by, r.out)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "edited.py"), []byte("text = 'afterwards'"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := by(); got != "warmtask" || !strings.Contains(w.log.String(), "edited.py has changed") {
		t.Errorf("after a change a program is started by %q; %s", got, w.log.String())
	}
	by() // forked, if it is known already that the server ends
	if got := by(); got != "berth.warm" {
		t.Errorf("after the server has ended, a program is started by %q", got)
	}
}

// TestWarmNumpy: numpy's own generator of random numbers, which a fork does not change, is seeded anew in each task. The package is a fake, as
// not every Python has numpy.
func TestWarmNumpy(t *testing.T) {
	w, drawn := newWarmth(t, map[string]string{"numpy": `import random, sys, types
class RandomState(random.Random): pass
mtrand = types.ModuleType("numpy.random.mtrand")
mtrand._rand = RandomState()
mtrand.seed = mtrand._rand.seed
sys.modules["numpy.random"] = sys.modules["numpy.random.mtrand"] = mtrand`}), make(map[string]bool)
	for range 3 {
		r := w.run(t, "exit", "warmtask,numpy")
		if drawn[r.drawn] = true; r.by != "berth.warm" {
			t.Errorf("started by %q; %s", r.by, w.log.String())
		}
	}
	if len(drawn) != 3 {
		t.Errorf("three processes drew %d random numbers", len(drawn))
	}
}

// TestWarmThreads: threads that end before each fork, as those of OpenBLAS do, which numpy starts with more than one core, hinder no fork.
func TestWarmThreads(t *testing.T) {
	w := newWarmth(t, map[string]string{"blas": `import os, threading
ends = threading.Event()
thread = threading.Thread(target=ends.wait)
thread.start()
os.register_at_fork(before=lambda: (ends.set(), thread.join()))`})
	if r := w.run(t, "exit", "warmtask,blas"); r.by != "berth.warm" {
		t.Errorf("started by %q; %s", r.by, w.log.String())
	}
}

// TestWarmRefused: what cannot be forked is started plainly, and the log says why.
func TestWarmRefused(t *testing.T) {
	modules := map[string]string{
		"starts":  "import threading, time\nthreading.Thread(target=time.sleep, args=(1000,), daemon=True).start()",
		"opens":   "f = open('/dev/zero')",
		"prints":  "import sys\nprint('hello', file=sys.stderr)",
		"moves":   "import os\nos.chdir('/')",
		"draws":   "import random\nmine = random.Random()",
		"needs":   "import nothing_like_it",
		"crashes": "import os\nos._exit(3)",
		"breaks":  "import os\nos.fork = None",
	}
	why := map[string]string{"starts": "starts threads", "opens": "opens files", "prints": "prints 'hello", "moves": "changes the folder",
		"draws": "draws would draw the same", "needs": "needs cannot be loaded", "crashes": "has ended", "breaks": "what forks has ended"}
	w := newWarmth(t, modules)
	for name := range modules {
		before := w.log.Len()
		if r := w.run(t, "exit", "warmtask,"+name); r.by != "warmtask" || r.how == nil || r.how.Exit != 7 {
			t.Errorf("%s: started by %q, and ended with %v", name, r.by, r.how)
		}
		if said := w.log.String()[before:]; !strings.Contains(said, why[name]) {
			t.Errorf("%s: the log says %q", name, said)
		}
	}
	script := filepath.Join(w.dir, "python")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec '"+w.python+"' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.python = script
	if r := w.run(t, "exit", "warmtask"); r.by != "warmtask" || !strings.Contains(w.log.String(), "is not Python itself") {
		t.Errorf("a script that starts Python: started by %q; %s", r.by, w.log.String())
	}
}
