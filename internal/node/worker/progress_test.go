package worker

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/hits/plant"
	"berth/internal/node/process"
	"berth/internal/wire"
)

// A task that reads the file that its entry names is as far as it has read it.
func TestProgressByInput(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `exec 3<{}; dd bs=1000 count=500 <&3 >/dev/null 2>&1; read x <go; dd bs=1000 count=250 <&3 >/dev/null 2>&1; read x <on`)
	s.Bag.Stdout, s.Bag.Stderr = job.Discard, job.Discard
	fifos := []string{fifo(t, s.Dir, "go"), fifo(t, s.Dir, "on")} // one each, as whoever opens one again may read its end
	if err := os.WriteFile(filepath.Join(s.Dir, "in put"), make([]byte, 1_000_000), 0o600); err != nil {
		t.Fatal(err)
	}
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	p.say(start(at, "in put"))
	for i, want := range []float64{0.5, 0.75} {
		got := p.progress(at, func(g wire.Progress) bool { return g.Source == job.ProgressInput && g.Fraction == want })
		if got.N != want*1e6 || got.Phase != job.PhaseCompute {
			t.Errorf("progress is %+v, want %g bytes read", got, want*1e6)
		}
		release(t, fifos[i])
	}
	if r := p.ended(event.Done); r.Source != job.ProgressInput || r.N != 750_000 {
		t.Errorf("it ended after %g by %v", r.N, r.Source)
	}
}

// Where no input is known the bytes that a task reads and writes count.
func TestProgressByTransfer(t *testing.T) {
	_, p := startWorker(t)
	s := shell(t, `dd if=/dev/zero of=/dev/null bs=1000000 count=3 2>/dev/null; read x <go`)
	s.Bag.Stdout, s.Bag.Stderr = job.Discard, job.Discard
	goOn := fifo(t, s.Dir, "go")
	p.job(s, 0, 0)
	at := try(s.ID, 0, 1)
	p.say(start(at, "1"))
	got := p.progress(at, func(g wire.Progress) bool { return g.Source != job.ProgressNone })
	if got.Source != job.ProgressIO || got.N < 6e6 || got.N > 7e6 || got.Fraction != -1 {
		t.Errorf("progress is %+v, want the three million bytes that were read and written", got)
	}
	release(t, goOn)
	p.ended(event.Done)
}

// A measure that does not move while processor time goes by is left for the next one, and the job's other tasks do
// not use it any more once that task is done.
func TestProgressIsMeasuredByWhatMoves(t *testing.T) {
	a, pids := standing(t, 5)
	for _, step := range []struct {
		cpu  time.Duration
		want job.ProgressSource
	}{
		{time.Second, job.ProgressInput}, {5 * time.Second, job.ProgressInput},
		{6 * time.Second, job.ProgressIO}, {6200 * time.Millisecond, job.ProgressIO},
		{6250 * time.Millisecond, job.ProgressCPU}, {99 * time.Second, job.ProgressCPU},
	} {
		got := a.gauge.take(a, pids, step.cpu)
		if got.Source != step.want {
			t.Errorf("after %v of processor time progress is %+v, want it by %v", step.cpu, got, step.want)
		}
		if got.Source == job.ProgressInput && (got.N != 5 || got.Fraction != 0.5) {
			t.Errorf("5 of 10 bytes are read, and progress is %+v", got)
		}
	}
	other := newAttempt(start(try("bag-1", 1, 1), "a"), a.work, 1)
	other.findInputs()
	if got := other.gauge.take(other, pids, 0).Source; got == job.ProgressCPU {
		t.Error("one attempt that is not done yet decides for others")
	}
	a.gauge.last.Store(&job.Progress{Source: job.ProgressCPU, CPU: time.Hour})
	a.judgeMeasures()
	if got := other.gauge.take(other, pids, time.Second); got.Source != job.ProgressCPU || got.N != 1 {
		t.Errorf("of another task of the job progress is %+v", got)
	}
}

// An input that is read to its end tells nothing of what its program does then.
func TestProgressAfterTheInput(t *testing.T) {
	a, pids := standing(t, 10)
	for _, step := range []struct {
		cpu  time.Duration
		want job.ProgressSource
	}{{time.Second, job.ProgressInput}, {1200 * time.Millisecond, job.ProgressInput}, {1250 * time.Millisecond, job.ProgressIO}} {
		if got := a.gauge.take(a, pids, step.cpu); got.Source != step.want {
			t.Errorf("after %v of processor time progress is %+v, want it by %v", step.cpu, got, step.want)
		}
	}
	other := pids // which do not have it open, as a program that comes after the one that read it
	a, pids = standing(t, 5)
	a.gauge.take(a, pids, time.Second)
	if got := a.gauge.take(a, other, 1200*time.Millisecond); got.Source != job.ProgressInput || got.Fraction != 0.5 {
		t.Errorf("at once after half of it was read progress is %+v", got)
	}
	if got := a.gauge.take(a, other, 1250*time.Millisecond); got.Source != job.ProgressIO {
		t.Errorf("half of it is read and it is closed, and progress is %+v", got)
	}
}

// standing returns an attempt with a program that has read so many of the ten bytes of its input, and does nothing from then on.
func standing(t *testing.T, position int64) (a *attempt, pids []int) {
	t.Helper()
	s := shell(t, "true {}")
	c := exec.Command("sh", "-c", "kill -STOP $$") // from then on it neither reads nor writes
	in, err := os.Create(filepath.Join(s.Dir, "a"))
	if err == nil {
		t.Cleanup(func() { _ = in.Close() })
		c.Stdin = in // its position stays
		_, err = in.Write(make([]byte, 10))
	}
	if err == nil {
		in, err = os.Open(in.Name())
	}
	if err == nil {
		c.Stdin = in
		_, err = in.Seek(position, 0)
	}
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	a = newAttempt(start(try("bag-1", 0, 1), "a"), &work{spec: s}, 1)
	a.cwd = s.Dir
	a.findInputs()
	return a, []int{c.Process.Pid}
}

// Where the user chose it, the functions of a program that is expected to take long are counted, and what was counted is its
// progress, once a first task has shown which of them are entered often.
func TestProgressByHits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("functions are counted on amd64 alone")
	}
	_, p := startWorker(t)
	s := shell(t, `exec awk 'BEGIN { getline x <"go" }'`)
	s.Bag.Progress = "hits"
	goOn := fifo(t, s.Dir, "go")
	p.job(s, 0, 0)
	run := func(task int, expected time.Duration, source job.ProgressSource) wire.Ended {
		m := start(try(s.ID, task, 1), "1")
		m.Expected = expected
		p.say(m)
		if source != job.ProgressNone {
			p.progress(m.Attempt, func(g wire.Progress) bool { return g.Source == source && g.N > 0 })
		}
		release(t, goOn)
		return p.ended(event.Done)
	}
	run(0, time.Minute, job.ProgressNone)
	if r := run(1, time.Minute, job.ProgressHits); r.Source != job.ProgressHits || r.N == 0 {
		t.Errorf("it ended after %g by %v", r.N, r.Source)
	}
	run(2, 9*time.Second, job.ProgressIO) // a short one is left alone
}

// Nothing is planted unless the user chose it, however long the task.
func TestProgressPlantsNothing(t *testing.T) {
	for by, planted := range map[string]bool{"": false, "auto": false, "cpu": false, "instructions": false, "hits": true} {
		s := shell(t, "true")
		s.Bag.Progress = by
		m := start(try(s.ID, 0, 1), "1")
		m.Expected = time.Hour
		w := &worker{cfg: Config{WorkerConfig: wire.WorkerConfig{Trace: t.TempDir()}}, plant: &plant.Planter{}}
		var c process.Command
		w.count(newAttempt(m, &work{spec: s}, 1), &c)
		if (c.Planter != nil) != planted || c.Instructions != (by == "" || by == "auto" || by == "instructions") {
			t.Errorf("--progress %q: planted %v, instructions counted %v", by, c.Planter != nil, c.Instructions)
		}
	}
}

// The source that the user chose comes first.
func TestProgressChosen(t *testing.T) {
	for by, want := range map[string]job.ProgressSource{"": job.ProgressInput, "io": job.ProgressIO, "cpu": job.ProgressCPU, "hits": job.ProgressInput} {
		a, pids := standing(t, 5)
		a.work.spec.Bag.Progress = by
		if got := a.gauge.take(a, pids, time.Second).Source; got != want {
			t.Errorf("--progress %q: progress is measured by %v, want %v", by, got, want)
		}
	}
}

// What measured a task to its end is trusted: a task of which it does not move hangs.
func TestProgressThatStandsStill(t *testing.T) {
	c := exec.Command("sh", "-c", "kill -STOP $$") // from then on it neither reads nor writes
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	s := shell(t, "true {}")
	wk := &work{spec: s}
	done := newAttempt(start(try("bag-1", 0, 1), "a"), wk, 1)
	done.gauge.last.Store(&job.Progress{Source: job.ProgressIO, N: 1, CPU: 10 * time.Second})
	done.judgeMeasures()
	a := newAttempt(start(try("bag-1", 1, 1), "a"), wk, 1)
	for _, cpu := range []time.Duration{time.Second, time.Minute, time.Hour} {
		if got := a.gauge.take(a, []int{c.Process.Pid}, cpu); got.Source != job.ProgressIO {
			t.Errorf("after %v of processor time progress is %+v", cpu, got)
		}
	}
}

// A task that a signal ends while its functions are counted leaves nothing behind and starts again, and its functions are not
// counted then.
func TestCrashWhileCounted(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("functions are counted on amd64 alone")
	}
	_, p := startWorker(t)
	s := shell(t, `echo out; kill -SEGV $$`)
	s.Bag.Progress = "hits"
	p.job(s, 0, 0)
	for n, want := range []event.Outcome{event.Killed, event.Failed} {
		m := start(try(s.ID, 0, n+1), "1")
		m.Expected, m.Commit = time.Minute, true
		p.say(m)
		p.ended(want)
		if _, err := os.Stat(filepath.Join(s.Dir, "bag-1", "1.stdout")); (err == nil) != (want == event.Failed) {
			t.Errorf("attempt %d: its output: %v", n+1, err)
		}
	}
}
