package test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// The last three tasks of these jobs do not end in their first attempt unless another attempt of them starts. One hangs for
// ever. One continues when it sees the other attempt, so that both end at about the same time. One fails then. Each round assigns these roles anew.
// late runs in these tasks when they start, with the task, the number of the attempt, and a folder for pipes. A waiting attempt opens a pipe, and so uses no processor time.
const late = `#!/bin/sh
task=$1 attempt=$2 pipes=$3 round=$4
case $(((task + round) % 3)) in
0) behaves=hangs ;;
1) behaves=races ;;
2) behaves=fails ;;
esac
mkdir -p $pipes
pipe=$pipes/$task
if [ $attempt != 1 ]; then
	[ ! -p $pipe ] || : <>$pipe
	exit 0
fi
[ $behaves != hangs ] || exec sleep 1000
mkfifo $pipe
: <$pipe
[ $behaves != fails ]
`

// looks makes workers report, and the coordinator check running tasks, so often that tasks of a fraction of a second count as long.
const looks = "BERTH_LOOK_EVERY=50ms"

// TestFaultDuplicatesBag kills workers, the coordinator and both at random moments of a bag with tasks that have two live attempts. Each task is done
// once, and leaves exactly its outputs.
func TestFaultDuplicatesBag(t *testing.T) {
	t.Parallel()
	const tasks = 10
	w := newDuplicatesWorld(t)
	w.write("task.sh", `#!/bin/sh
task=$1 round=$2
echo not to be kept >junk.$task
echo "$task squared" >out$round/$task.res
if [ $task -gt 7 ]; then
	$BERTH_DIR/late.sh $task $BERTH_ATTEMPT $BERTH_DIR/pipes/$round $round || exit
fi
sleep 0.2
echo $((task * task)) >>out$round/$task.res
echo $task
`)
	w.faultDuplicates(t, 40, func(round int) []string {
		out := fmt.Sprintf("out%d", round)
		return []string{"bag", "--workers", "6", "--cpus-per-task", "1", "--speculation", "100%", "--retries", "2", "--array", fmt.Sprintf("1-%d", tasks),
			"--outputs", out + "/{}.res", "--stdout", out + "/{task}.out", "--stderr", "none", "--", "./task.sh", "{}", strconv.Itoa(round)}
	}, func(round int) {
		out := fmt.Sprintf("out%d", round)
		for i := 1; i <= tasks; i++ {
			res, said := w.read(fmt.Sprintf("%s/%d.res", out, i)), w.read(fmt.Sprintf("%s/%d.out", out, i))
			if res != fmt.Sprintf("%d squared\n%d\n", i, i*i) || said != fmt.Sprintln(i) {
				t.Errorf("task %d left %q and said %q", i, res, said)
			}
		}
		w.only(t, out, 2*tasks)
	})
}

// TestFaultDuplicatesMapReduce is TestFaultDuplicatesBag for maps and reduces.
func TestFaultDuplicatesMapReduce(t *testing.T) {
	t.Parallel()
	w := newDuplicatesWorld(t)
	const maps, reduces = 9, 8
	w.write("in/a.txt", words(rand.New(rand.NewPCG(7, 7)), maps*1000))
	size := len(w.read("in/a.txt"))/maps + 20
	run := `if [ $mapreduce_task_partition -gt %d ] && [ $ROUND -gt 0 ]; then
	%s/late.sh $mapreduce_task_partition $BERTH_ATTEMPT %[2]s/pipes/%s$ROUND $ROUND || exit
fi
`
	w.write("map.sh", "#!/bin/sh\n"+fmt.Sprintf(run, maps-4, w.dir, "map")+"exec tr -s ' ' '\\n'\n")
	w.write("reduce.sh", "#!/bin/sh\n"+fmt.Sprintf(run, reduces-3, w.dir, "reduce")+"exec uniq -c\n")
	args := func(round int, out string) []string {
		return []string{"mapreduce", "--workers", "4", "-D", "mapreduce.input.fileinputformat.split.maxsize=" + strconv.Itoa(size), "-D", "mapreduce.map.maxattempts=4",
			"-input", "in", "-output", out, "-mapper", "map.sh", "-reducer", "reduce.sh", "-numReduceTasks", strconv.Itoa(reduces), "-cmdenv", "ROUND=" + strconv.Itoa(round)}
	}
	w.must(args(0, "reference")...)
	reference := w.output("reference")
	if strings.Count(reference, "\n") < 100 {
		t.Fatalf("the reference is too small to tell anything: %q", reference)
	}
	w.faultDuplicates(t, 100, func(round int) []string { return args(round+1, fmt.Sprintf("out%d", round)) },
		func(round int) {
			out := fmt.Sprintf("out%d", round)
			if got := w.output(out); got != reference {
				t.Errorf("output differs from the reference:\n%.300q\nwant\n%.300q", got, reference)
			}
			w.only(t, out, reduces+1) // and _SUCCESS
		})
}

func newDuplicatesWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.batch = []string{noBatch, looks}
	w.write("late.sh", late)
	return w
}

// faultDuplicates is faultRound for jobs with duplicates. It fails the test if no task ever had two live attempts.
func (w *world) faultDuplicates(t *testing.T, entries int, args func(round int) []string, check func(round int)) {
	t.Helper()
	var begun, won, rounds int
	tell := func() {
		t.Logf("%d rounds, %d kills: %d duplicates begun, %d did the task", rounds, w.kills.Load(), begun, won)
	}
	random := func(w *world, rng *rand.Rand) moment {
		if rng.IntN(2) == 0 {
			return among(entries)(w, rng)
		}
		return w.whileDuplicates(1+rng.IntN(3), rng.IntN(3))
	}
	faultRound(t, w, 5, random, args, func(round int, id job.ID) {
		b, v := duplicates(w.records(id))
		begun, won, rounds = begun+b, won+v, rounds+1
		w.must("server", "start") // the last kill may have left the workers without one
		w.must("server", "stop")  // slow nodes are avoided for minutes, and the next round has other slow ones
		// A job does not wait for an attempt that hangs on a worker which has not come back yet, and the file of that one is there until then.
		w.await("the workers to be gone", func() bool { return len(w.workers()) == 0 })
		check(round)
		if left := w.parts(t); len(left) > 0 {
			t.Errorf("attempts left %v", left)
		}
		if round%20 == 0 {
			tell()
		}
	})
	tell()
	if begun == 0 {
		t.Error("no task had two live attempts")
	}
}

// whileDuplicates returns a moment: a number of entries after the nth duplicate of the job started.
func (w *world) whileDuplicates(n, entries int) moment {
	size := int64(-1)
	return moment{fmt.Sprintf("duplicate %d, %d entries on", n, entries), func(id job.ID) bool {
		st, err := os.Stat(w.home().Run(id).Journal())
		if err != nil || st.Size() == size {
			return false
		}
		size = st.Size()
		all := w.tryRecords(id)
		begun, _ := duplicates(all[:max(0, len(all)-entries)])
		return begun >= n
	}}
}

// duplicates returns how many attempts started while another attempt of their task lived, and how many of these completed the task.
func duplicates(entries []event.Entry) (begun, won int) {
	live, second := map[int]int{}, map[job.Attempt]bool{} // attempts by task, and those begun beside another
	for _, e := range entries {
		switch r := e.Record.(type) {
		case event.AttemptStarted:
			if live[r.Attempt.Task] > 0 {
				begun++
				second[r.Attempt] = true
			}
			live[r.Attempt.Task]++
		case event.AttemptEnded:
			live[r.Attempt.Task]--
			if r.Outcome == event.Done && second[r.Attempt] {
				won++
			}
		}
	}
	return begun, won
}

// only fails the test unless the folder has exactly n entries, none of them hidden.
func (w *world) only(t *testing.T, folder string, n int) {
	t.Helper()
	list, err := os.ReadDir(filepath.Join(w.dir, folder))
	if err != nil || len(list) != n {
		t.Errorf("%s has %v (%v)", folder, list, err)
	}
}

// parts returns the files and folders that attempts write before the commit.
func (w *world) parts(t *testing.T) (left []string) {
	t.Helper()
	for _, pattern := range []string{".*.part", "*/.*.part", "junk.*", "*/_temporary*", "*/.??*"} {
		found, err := filepath.Glob(filepath.Join(w.dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, found...)
	}
	slices.Sort(left)
	return slices.Compact(left)
}
