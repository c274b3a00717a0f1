package test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
)

// TestFaultFullDisk fills the disk of the state folder or of the outputs at a random moment of a job, or makes the disk of the outputs
// read-only, kills processes meanwhile, and mends the disk. The job goes on by itself, or its command has said what is wrong with the disk
// and the job is resumed. Then every output is there once and complete, and no task that was done was started again.
func TestFaultFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disks := []string{filepath.Join(w.root, "state"), filepath.Join(w.dir, "disk")}
	w.smallDisk(disks[0], "size=16m,nr_inodes=8k,mode=0700")
	w.smallDisk(disks[1], "size=2m,nr_inodes=1k,mode=0700")
	kinds := []func(round, tasks int) jobOnDisk{inFiles, inFilesWithOutputs, collected, w.mapReduceOnDisk()}
	for round, seed := range w.seeded(t, faultRounds(t, 1)) {
		rng := newRand(seed)
		const tasks = 40
		b := kinds[rng.IntN(len(kinds))](round, tasks)
		before := len(w.jobs())
		r := w.start(b.args...)
		id := w.submitted(r, before)
		at, disk := w.entries(rng.IntN(2*tasks)), disks[rng.IntN(len(disks))]
		plan := fmt.Sprintf("%s, %s at %s", strings.Join(b.args, " "), filepath.Base(disk), at.name)
		if w.until(id, at) {
			plan += w.whileHarmed(r, id, disk, rng)
		}
		res := w.inTimeOf(r)
		t.Logf("seed %d (%s): exit %d", seed, plan, res.code)
		if res.code != 0 {
			if !slices.ContainsFunc(diskWords, func(words string) bool { return strings.Contains(res.stderr, words) }) {
				t.Error("the command says neither what is wrong with the disk nor what to do")
			}
			w.toEnd(id)
		}
		checkOnce(t, w.records(id))
		b.check(w, id)
		if t.Failed() {
			t.Fatal(res)
		}
	}
}

// diskWords are what commands say of a disk that does not take what is written to it.
var diskWords = []string{"free space", "no space", "rerun them with", "read-only file system"}

// jobOnDisk is a job of TestFaultFullDisk, and the check of what it left.
type jobOnDisk struct {
	args  []string
	check func(w *world, id job.ID)
}

// A task of these bags fails if it cannot write.
const printsSquare = "sleep 0.01 && echo $((BERTH_TASK_ID * BERTH_TASK_ID))"

func inFiles(round, tasks int) jobOnDisk { return onDisk(round, tasks, printsSquare) }

func inFilesWithOutputs(round, tasks int) jobOnDisk {
	return onDisk(round, tasks, "mkdir -p disk && "+printsSquare+" && echo $BERTH_TASK_ID >disk/r$BERTH_TASK_ID", "--outputs", "disk/r*")
}

func onDisk(round, tasks int, command string, more ...string) jobOnDisk {
	args := append(append(bagOf(tasks), more...), "--stdout", fmt.Sprintf("disk/out%d/{task}", round), "--stderr", "none", "--", "sh", "-c", command)
	return jobOnDisk{args, func(w *world, _ job.ID) {
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

func collected(_, tasks int) jobOnDisk {
	return jobOnDisk{append(bagOf(tasks), "--stdout", "collect", "--", "sh", "-c", printsSquare), func(w *world, id job.ID) {
		want := ""
		for i := 1; i <= tasks; i++ {
			want += fmt.Sprintln(i * i)
		}
		if got := w.must("cat", string(id)).stdout; got != want {
			w.t.Errorf("the tasks printed %q", got)
		}
	}}
}

func bagOf(tasks int) []string {
	return []string{"bag", "--workers", "2", "--array", fmt.Sprintf("1-%d", tasks)}
}

// mapReduceOnDisk returns a kind of job that counts words, in some 40 tasks.
func (w *world) mapReduceOnDisk() func(round, tasks int) jobOnDisk {
	input := words(newRand(7), 20000)
	w.write("in.txt", input)
	want := counted(input)
	return func(round, tasks int) jobOnDisk {
		out := fmt.Sprintf("disk/words%d", round)
		args := []string{"mapreduce", "--workers", "2", "-input", "in.txt", "-output", out, "-mapper", "tr -s ' ' '\\n'", "-reducer", "uniq -c",
			"-numReduceTasks", "3", "-D", fmt.Sprintf("mapreduce.input.fileinputformat.split.maxsize=%d", len(input)/tasks)}
		return jobOnDisk{args, func(w *world, _ job.ID) {
			if got := countedBy(w.output(out)); !slices.Equal(got, want) {
				w.t.Errorf("%d words were counted, or not as they are: want %d", len(got), len(want))
			}
			w.empty("disk")
		}}
	}
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

// whileHarmed fills a disk or makes it read-only, waits until the command or the coordinator has found that, for some of the time, and
// mends the disk. It returns what it did.
func (w *world) whileHarmed(r *running, id job.ID, disk string, rng *rand.Rand) (did string) {
	w.t.Helper()
	var mend func()
	if disk != filepath.Join(w.root, "state") && rng.IntN(3) == 0 {
		mend, did = w.readOnly(disk), ", read-only"
	} else {
		mend, did = w.fill(disk, rng), ", full"
	}
	defer mend()
	if rng.IntN(4) > 0 {
		w.await("somebody to find the disk harmed, or the end", func() bool {
			h, err := w.client().Hello(w.t.Context())
			_, over := w.ended(id)
			return r.over() || over || err == nil && h.Full
		})
	}
	if rng.IntN(2) == 0 {
		victim := victims[rng.IntN(len(victims))]
		w.kill(victim, rng)
		did += ", killed: " + victim
	}
	return did
}

// readOnly makes a disk read-only, and returns what makes it writable again. The kernel does so only while no file is open to be written,
// so workers are killed until it does.
func (w *world) readOnly(disk string) (mend func()) {
	w.t.Helper()
	w.await("a moment at which nobody writes to "+disk, func() bool {
		for _, pid := range w.workers() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		return unix.Mount("berth-test", disk, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, "") == nil
	})
	return func() {
		if err := unix.Mount("berth-test", disk, "tmpfs", unix.MS_REMOUNT, ""); err != nil {
			w.t.Error(err)
		}
	}
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
