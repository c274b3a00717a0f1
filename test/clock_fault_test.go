package test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// steppedVar names the variable of a program of buildStepped with the file by whose seconds its wall clock is wrong.
const steppedVar = "BERTH_TEST_STEPPED"

// steppedNow is what buildStepped adds to the standard library's package time. The monotonic clock stays, as it does when somebody sets the
// clock of a machine.
//
// The runtime calls time.Now where no system call is possible, so the seconds are in memory that is shared with the file.
const steppedNow = `
var steppedBy = mapStepped()

func mapStepped() *int64 {
	path, ok := syscall.Getenv("` + steppedVar + `")
	if !ok {
		return nil
	}
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		panic(err)
	}
	b, err := syscall.Mmap(fd, 0, 8, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	return (*int64)(unsafe.Pointer(&b[0]))
}

func stepped() int64 {
	if steppedBy == nil {
		return 0
	}
	return *steppedBy
}
`

// mostRun is longer than a job of these tests takes, and shorter than the least step of the clock.
const mostRun = 30 * time.Minute

// TestFaultSteppedClock sets the wall clock forward and back by hours at random moments of a bag with a time limit, and kills the coordinator
// meanwhile in some rounds. No attempt ends for that, no phase takes longer or ends before it began, and what the coordinator says of
// durations has nothing of the steps as long as it lives, wherever phases ran. All of berth is built with another package time, which takes minutes, so only make soak runs this.
func TestFaultSteppedClock(t *testing.T) {
	if os.Getenv(roundsVar) == "" {
		t.Skip(roundsVar + " is not set")
	}
	w := newWorld(t)
	w.program = buildStepped(t)
	clock := filepath.Join(w.root, "stepped")
	w.ok(os.WriteFile(clock, make([]byte, 8), 0o600))
	w.batch = []string{noBatch, steppedVar + "=" + clock}
	const tasks = 12
	for round, seed := range w.seeded(t, faultRounds(t, 1)) {
		rng := newRand(seed)
		before := len(w.jobs())
		r := w.start("bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks), "--time-limit", fmt.Sprint(mostRun.Minutes()), "--stdout",
			fmt.Sprintf("out%d/{task}", round), "--stderr", "none", "--", "sh", "-c", "sleep 0.5; "+printsSquare)
		id := w.submitted(r, before)
		killed := false
		for range 1 + rng.IntN(3) {
			if !w.until(id, w.entries(3+rng.IntN(2*tasks))) {
				break
			}
			w.setClock(clock, rng)
			if rng.IntN(4) == 0 {
				killed = true
				w.kill("coordinator", rng)
			}
		}
		if res := w.inTimeOf(r); res.code != 0 {
			t.Errorf("seed %d: %v", seed, res)
		}
		w.checkStepped(id, killed)
		for i := 1; i <= tasks; i++ {
			if got := w.read(fmt.Sprintf("out%d/%d", round, i)); got != fmt.Sprintln(i*i) {
				t.Errorf("seed %d: task %d wrote %q", seed, i, got)
			}
		}
	}
}

// setClock sets the wall clock of berth forward or back by one to thirty hours.
func (w *world) setClock(file string, rng *rand.Rand) {
	w.t.Helper()
	b, err := os.ReadFile(file)
	w.ok(err)
	step := int64(3600 + rng.IntN(29*3600))
	if rng.IntN(2) == 0 {
		step = -step
	}
	w.t.Logf("the clock is set by %v", time.Duration(step)*time.Second)
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	w.ok(err)
	_, err = f.WriteAt(binary.NativeEndian.AppendUint64(nil, binary.NativeEndian.Uint64(b)+uint64(step)), 0)
	w.ok(errors.Join(err, f.Close()))
}

// checkStepped checks that all attempts of a job were done and, unless the coordinator was killed, how long they and the job took.
func (w *world) checkStepped(id job.ID, killed bool) {
	w.t.Helper()
	begun := map[job.Attempt]job.Time{}
	for _, e := range w.records(id) {
		switch r := e.Record.(type) {
		case event.AttemptStarted:
			begun[r.Attempt] = e.At
		case event.AttemptEnded:
			if r.Outcome != event.Done {
				w.t.Errorf("%v ended as %v: %s", r.Attempt, r.Outcome, r.Reason)
			}
			if took := e.At.Sub(begun[r.Attempt]); !killed && (took < 0 || took > mostRun) {
				w.t.Errorf("%v took %v", r.Attempt, took)
			}
			for _, s := range r.Stats {
				early, late := begun[r.Attempt].Sub(s.Start), s.End.Sub(e.At)
				if s.Duration() < 0 || s.Duration() > mostRun || !killed && max(early, late) > mostRun {
					w.t.Errorf("%v: its phase %v took %v, from %v before the attempt to %v after it", r.Attempt, s.Phase, s.Duration(), early, late)
				}
			}
		}
	}
	v, over := w.ended(id)
	if !over || v.TurnaroundS == nil || !killed && (*v.TurnaroundS < 0 || *v.TurnaroundS > mostRun.Seconds()) {
		w.t.Errorf("the job took %+v", v.TurnaroundS)
	}
}

// buildStepped builds a berth whose wall clock is wrong by the seconds in a file.
func buildStepped(t *testing.T) (program string) {
	t.Helper()
	dir := t.TempDir()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	now, imports := []byte("\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {"), []byte("\t\"math/bits\"\n")
	if bytes.Count(text, now) != 1 || bytes.Count(text, imports) != 1 {
		t.Skip("this version of Go has another time.Now")
	}
	text = bytes.Replace(text, now, []byte("\tsec, nsec, mono := runtimeNow()\n\tsec += stepped()\n\tif mono == 0 {"), 1)
	text = append(bytes.Replace(text, imports, []byte("\t\"math/bits\"\n\t\"syscall\"\n\t\"unsafe\"\n"), 1), steppedNow...)
	changed, overlay := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json")
	replaces, err := json.Marshal(map[string]map[string]string{"Replace": {source: changed}})
	if err := errors.Join(err, os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, replaces, 0o600)); err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "berth")
	if out, err := exec.Command("go", "build", "-overlay", overlay, "-o", program, "berth/cmd/berth").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
