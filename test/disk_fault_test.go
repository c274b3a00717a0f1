package test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// TestFaultFullDisk fills the disk of the state folder or of the outputs at a random moment of a bag, kills processes meanwhile, and
// makes room again. The bag goes on by itself, or its command has said that there is no room and the job is resumed. Then every output
// is there once and complete, and no task that was done was started again.
func TestFaultFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disks := []string{filepath.Join(w.root, "state"), filepath.Join(w.dir, "disk")}
	w.smallDisk(disks[0], "size=16m,nr_inodes=8k,mode=0700")
	w.smallDisk(disks[1], "size=2m,nr_inodes=1k,mode=0700")
	kinds := []func(round, tasks int) bagOnDisk{inFiles, inFilesWithOutputs, collected}
	first := faultSeed(t)
	for round := range faultRounds(t, 1) {
		seed := first + uint64(round)
		rng := newRand(seed)
		const tasks = 40
		b := kinds[rng.IntN(len(kinds))](round, tasks)
		before := len(w.jobs())
		r := w.start(append([]string{"bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks)}, b.args...)...)
		id := w.submitted(r, before)
		at, disk := w.entries(rng.IntN(2*tasks)), disks[rng.IntN(len(disks))]
		plan := fmt.Sprintf("%s, %s full at %s", strings.Join(b.args, " "), filepath.Base(disk), at.name)
		if w.until(id, at) {
			plan += w.whileFull(r, id, disk, rng)
		}
		res := w.finish(r)
		if res.code != 0 {
			if said := res.stderr; !strings.Contains(said, "free space") && !strings.Contains(said, "no space") && !strings.Contains(said, "rerun them with") {
				t.Error("the command says neither that there is no room nor what to do")
			}
			w.toEnd(id)
		}
		checkOnce(t, w.records(id))
		b.check(w, id)
		if t.Failed() {
			t.Fatalf("seed %d (%s): %v", seed, plan, res)
		}
	}
}

// bagOnDisk is a bag of TestFaultFullDisk, and the check of what it left.
type bagOnDisk struct {
	args  []string
	check func(w *world, id job.ID)
}

// A task of these bags fails if it cannot write.
const printsSquare = "sleep 0.01 && echo $((BERTH_TASK_ID * BERTH_TASK_ID))"

func inFiles(round, tasks int) bagOnDisk { return onDisk(round, tasks, printsSquare) }

func inFilesWithOutputs(round, tasks int) bagOnDisk {
	return onDisk(round, tasks, "mkdir -p disk && "+printsSquare+" && echo $BERTH_TASK_ID >disk/r$BERTH_TASK_ID", "--outputs", "disk/r*")
}

func onDisk(round, tasks int, command string, more ...string) bagOnDisk {
	args := append(more, "--stdout", fmt.Sprintf("disk/out%d/{task}", round), "--stderr", "none", "--", "sh", "-c", command)
	return bagOnDisk{args, func(w *world, _ job.ID) {
		for i := 1; i <= tasks; i++ {
			if got := w.read(fmt.Sprintf("disk/out%d/%d", round, i)); got != fmt.Sprintln(i*i) {
				w.t.Errorf("task %d wrote %q", i, got)
			}
			if len(more) > 0 && w.read(fmt.Sprintf("disk/r%d", i)) != fmt.Sprintln(i) {
				w.t.Errorf("task %d left another file", i)
			}
		}
		w.empty("disk")
	}}
}

func collected(_, tasks int) bagOnDisk {
	return bagOnDisk{[]string{"--stdout", "collect", "--", "sh", "-c", printsSquare}, func(w *world, id job.ID) {
		want := ""
		for i := 1; i <= tasks; i++ {
			want += fmt.Sprintln(i * i)
		}
		if got := w.must("cat", string(id)).stdout; got != want {
			w.t.Errorf("the tasks printed %q", got)
		}
	}}
}

// empty removes what is in a folder of the user's, so that its disk has room for the next round.
func (w *world) empty(folder string) {
	w.t.Helper()
	all, err := filepath.Glob(filepath.Join(w.dir, folder, "*"))
	for _, f := range all {
		err = errors.Join(err, os.RemoveAll(f))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// whileFull fills a disk, waits until the command or the coordinator has found that, for some of the time, and makes room. It returns
// what it did besides.
func (w *world) whileFull(r *running, id job.ID, disk string, rng *rand.Rand) (did string) {
	w.t.Helper()
	room := w.fill(disk, rng)
	defer room()
	if rng.IntN(4) > 0 {
		w.await("somebody to find the disk full, or the end", func() bool {
			h, err := w.client().Hello(w.t.Context())
			_, over := w.ended(id)
			return r.over() || over || err == nil && h.Full
		})
	}
	if rng.IntN(2) == 0 {
		victim := victims[rng.IntN(len(victims))]
		w.kill(victim, rng)
		did = ", killed: " + victim
	}
	return did
}

// fill writes to a disk until it has no room, or no place for names, and returns what makes room again.
func (w *world) fill(disk string, rng *rand.Rand) (room func()) {
	w.t.Helper()
	dir := filepath.Join(disk, "filler")
	err := os.Mkdir(dir, 0o700)
	if rng.IntN(3) > 0 {
		var f *os.File
		if f, err = os.Create(filepath.Join(dir, "f")); err == nil {
			for block := make([]byte, 4096); err == nil; {
				_, err = f.Write(block)
			}
			_ = f.Close()
		}
	}
	for i := 0; err == nil; i++ {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), nil, 0o600)
	}
	if !errors.Is(err, unix.ENOSPC) {
		w.t.Fatal(err)
	}
	return func() { _ = os.RemoveAll(dir) }
}

// toEnd brings a job to its end whose command has ended before: it runs, or is resumed.
func (w *world) toEnd(id job.ID) {
	w.t.Helper()
	if res := w.berth("wait", string(id)); res.code != 0 {
		w.must("resume", "--failed", string(id))
	}
}

// smallDisk puts a file system in memory onto a folder of the world.
func (w *world) smallDisk(folder, options string) {
	w.t.Helper()
	if err := os.MkdirAll(folder, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := unix.Mount("berth-test", folder, "tmpfs", 0, options); err != nil {
		w.t.Skipf("a small file system cannot be mounted here (it takes root): %v", err)
	}
	w.t.Cleanup(func() { _ = unix.Unmount(folder, unix.MNT_DETACH) })
}
