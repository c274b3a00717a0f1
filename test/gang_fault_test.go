package test

import (
	"bytes"
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

// gangRank is what each rank of a task runs: ROUND TASK RANK. As long as any process of an attempt lives, one that has left its session too, the file
// lock/ROUND.TASK.ATTEMPT is locked. A rank that begins while an earlier attempt lives says so in the file twice. Only one looks at a time, as looking locks the file.
const gangRank = `#!/bin/sh
own=lock/$1.$2.$BERTH_ATTEMPT
exec 9>>$own
flock -s 9
for other in lock/$1.$2.*; do
	[ $other = $own ] || flock look flock -n $other true || echo "$own beside $other" >>twice
done
setsid sleep 1000 >/dev/null 2>&1 &
sleep 0.2
kill $!
echo $3
`

// gangTask is the command of a bag whose tasks start their ranks themselves: ROUND TASK.
const gangTask = `#!/bin/sh
[ "$BERTH_HOSTFILE" ] || exec ./rank.sh $1 $2 0
rank=0 agents=
for host in $(cat "$BERTH_HOSTFILE"); do
	"$BERTH_LAUNCH" $host ./rank.sh $1 $2 $rank &
	agents="$agents $!" rank=$((rank + 1))
done
for agent in $agents; do
	wait $agent || exit
done
`

// TestFaultGang kills workers, whole nodes and the coordinator at random moments of a bag with gangs of two to six nodes beside small tasks. Each task is done once,
// no attempt begins before all processes of the one before have ended, and at the end no process of any is left.
func TestFaultGang(t *testing.T) {
	t.Parallel()
	ranks := []int{0, 2, 0, 6, 0, 0, 3, 0, 4, 0, 0, 5, 0, 2, 0, 0} // of each task; 0: it is no gang
	for name, command := range map[string]string{"launched": "./task.sh %d {1}", "each rank": `./rank.sh %d {1} "$BERTH_RANK"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.victims, w.strike = []string{"node", "node"}, w.killNode
			w.write("rank.sh", gangRank)
			w.write("task.sh", gangTask)
			w.write("lock/.keep", "")
			var list strings.Builder
			for i, n := range ranks {
				fmt.Fprintf(&list, "%d,%s\n", i+1, strings.Trim(fmt.Sprint(n), "0"))
			}
			w.write("list", list.String())
			faultRound(t, w, 1, among(250), func(round int) []string {
				args := []string{"bag", "--workers", "6", "-c", "1", "--retries", "0", "--each-line", "list", "--colsep", ",", "--ranks-from", "2", "--ranks-per-node", "1", "--stderr", "none"}
				if name == "each rank" {
					args = append(args, "--each-rank")
				}
				return append(args, "--stdout", fmt.Sprintf("out%d/{task}", round), "--", fmt.Sprintf(command, round))
			}, func(round int, _ job.ID) {
				if b, err := os.ReadFile(filepath.Join(w.dir, "twice")); err == nil {
					t.Errorf("attempts of a task at the same time:\n%s", b)
				}
				for i, n := range ranks {
					var want []string
					for r := range max(n, 1) {
						want = append(want, fmt.Sprint(r))
					}
					got := textLines(w.read(fmt.Sprintf("out%d/%d", round, i+1)))
					if slices.Sort(got); !slices.Equal(got, want) {
						t.Errorf("the ranks of task %d wrote %q", i+1, got)
					}
				}
				for _, path := range w.lockedFiles("lock") {
					t.Errorf("a process of the attempt of %s is left", path)
				}
			})
		})
	}
}

// lockedFiles returns the files of a folder that a process has locked, and removes the others.
func (w *world) lockedFiles(folder string) (locked []string) {
	w.t.Helper()
	files, _ := filepath.Glob(filepath.Join(w.dir, folder, "*"))
	for _, path := range files {
		f, err := os.Open(path)
		w.ok(err)
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
			locked = append(locked, path)
		} else {
			w.ok(os.Remove(path))
		}
		w.ok(f.Close())
	}
	return locked
}

// killNode kills a worker and all processes of its tasks, as the end of their machine does.
func (w *world) killNode(_ string, rng *rand.Rand) {
	files, _ := filepath.Glob(filepath.Join(w.home().Server(), "allocs", "*", "*.pid"))
	if len(files) == 0 {
		return
	}
	file := files[rng.IntN(len(files))]
	var pids []int
	if b, err := os.ReadFile(file); err == nil {
		var pid int
		if _, err := fmt.Sscan(string(b), &pid); err == nil && w.isBerth(pid, "worker\x00") {
			pids = append(pids, pid)
		}
	}
	alloc, node := filepath.Base(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".pid")
	mark := []byte(fmt.Sprintf("\x00BERTH_NODE=%s/%s.", alloc, node))
	for _, pid := range w.processes() {
		if env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && bytes.Contains(env, mark) {
			pids = append(pids, pid)
		}
	}
	for _, pid := range pids {
		_ = unix.Kill(pid, unix.SIGKILL) // it may just have ended
	}
}
