package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// twoRanks are the options of a task with two ranks, each on a node of its own.
var twoRanks = []string{"--ranks", "2", "--ranks-per-node", "1", "--array", "1-1"}

// openMPI are variables with which Open MPI works as root, too.
var openMPI = []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}

// computePi is a program of MPI that prints π, and the node of each rank: that of the process which has started the rank there, as MPICH gives the ranks the
// variables of the first node.
const computePi = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int c, char **v) {
	int rank, ranks, n = 100000;
	double mine = 0, pi;
	char node[64] = "", *all, *own = NULL;
	size_t size = 0;
	snprintf(node, sizeof node, "/proc/%d/environ", (int)getppid());
	FILE *environ = fopen(node, "r");
	while (environ && getdelim(&own, &size, 0, environ) > 0)
		if (!strncmp(own, "BERTH_NODE=", 11))
			snprintf(node, sizeof node, "%s", own + 11);
	MPI_Init(&c, &v);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = rank; i < n; i += ranks) {
		double x = (i + 0.5) / n;
		mine += 4 / (1 + x * x) / n;
	}
	MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	all = calloc(ranks, sizeof node);
	MPI_Gather(node, sizeof node, MPI_CHAR, all, sizeof node, MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("%.6f\n", pi);
		for (int i = 0; i < ranks; i++)
			puts(all + i * sizeof node);
	}
	return MPI_Finalize();
}
`

// gangCommand is a task for one MPI. On Slurm it prints what srun and its variables say else than the launch agent: of other nodes, or more of these.
const gangCommand = `#!/bin/sh
mpirun.$1 ./pi.$1
[ "$SLURM_JOB_ID" ] || exit 0
rank=0
for host in $(cat "$BERTH_HOSTFILE"); do
	echo "$rank $("$BERTH_LAUNCH" $host 'echo $SLURMD_NODENAME') 200"
	rank=$((rank + 1))
done >ranks.$1
nodes=$(cut -d ' ' -f 2 ranks.$1 | uniq | paste -s -d ,)
srun sh -c 'echo $SLURM_PROCID $SLURMD_NODENAME $SLURM_MEM_PER_NODE' | sort | diff ranks.$1 -
job="$SLURM_NNODES $SLURM_NTASKS $SLURM_TASKS_PER_NODE $SLURM_JOB_NODELIST"
[ "$job" = "2 3 2,1 $nodes" ] || echo "$job"
`

// checkGangs runs tasks of so many ranks, with so many on a node: a program for each MPI that this machine has, and a command on every rank. The ranks are on
// the nodes that the journal names.
func (w *world) checkGangs(ranks, perNode int, flags ...string) {
	w.t.Helper()
	flags = slices.Concat([]string{"bag", "--ranks", strconv.Itoa(ranks), "--ranks-per-node", strconv.Itoa(perNode), "--mem", "100M"}, flags)
	batch := w.batch
	defer func() { w.batch = batch }()
	if w.batch = slices.Concat(batch, openMPI); batch == nil {
		w.batch = append(w.batch, noBatch)
	}
	if mpis := w.compilePi(); len(mpis) > 0 {
		w.write("gang.sh", gangCommand)
		w.must(slices.Concat(flags, []string{"--stdout", "pi{task}", "--", "./gang.sh", "{}", ":::"}, mpis)...)
		for task, nodes := range w.rankNodes() {
			if got, want := withoutToken(w.read(fmt.Sprintf("pi%d", task+1))), append([]string{"3.141593"}, nodes...); !slices.Equal(got, want) {
				w.t.Errorf("the ranks of %s printed %q, want %q", mpis[task], got, want)
			}
		}
	}
	w.must(append(flags, "--each-rank", "--stdout", "rank{task}.{rank}", "--array", "1-1", "--", "echo $BERTH_RANK of $BERTH_RANKS; echo $BERTH_NODE")...)
	for rank, node := range w.rankNodes()[0] {
		if got, want := withoutToken(w.read(fmt.Sprintf("rank1.%d", rank))), []string{fmt.Sprintf("%d of %d", rank, ranks), node}; !slices.Equal(got, want) {
			w.t.Errorf("rank %d printed %q, want %q", rank, got, want)
		}
	}
}

// compilePi compiles computePi with each MPI that this machine has, and returns their names.
func (w *world) compilePi() (mpis []string) {
	w.t.Helper()
	for _, mpi := range []string{"openmpi", "mpich"} {
		if _, err := exec.LookPath("mpicc." + mpi); err != nil {
			w.t.Logf("%v; make test installs it", err)
			continue
		}
		out, err := exec.Command("mpicc."+mpi, "-o", filepath.Join(w.dir, "pi."+mpi), w.write("pi.c", computePi)).CombinedOutput()
		if err != nil {
			w.t.Fatalf("%v: %s", err, out)
		}
		mpis = append(mpis, mpi)
	}
	return mpis
}

// rankNodes returns the nodes of the ranks of each task of the last job.
func (w *world) rankNodes() map[int][]string {
	w.t.Helper()
	nodes := map[int][]string{}
	jobs := w.jobs()
	for _, e := range w.records(jobs[len(jobs)-1]) {
		if r, ok := e.Record.(event.AttemptEnded); ok && r.Outcome != event.Done {
			w.t.Errorf("attempt %v ended with %v: %s", r.Attempt, r.Outcome, r.Reason)
		}
		if r, ok := e.Record.(event.AttemptStarted); ok {
			for _, s := range r.Gang {
				nodes[r.Attempt.Task] = append(nodes[r.Attempt.Task], slices.Repeat([]string{string(s.Node)}, s.Ranks)...)
			}
		}
	}
	return nodes
}

// withoutToken returns the lines of a text, in which BERTH_NODE ends with the node.
func withoutToken(text string) []string {
	lines := textLines(text)
	for i, line := range lines {
		if strings.Contains(line, "/") {
			lines[i], _, _ = strings.Cut(line, ".")
		}
	}
	return lines
}

// TestGangs: tasks of several ranks run on workers of one machine.
func TestGangs(t *testing.T) {
	t.Parallel()
	newWorld(t).checkGangs(2, 1, "--workers", "2")
}

// TestRankEndsOthers: the failure of a rank ends the others.
func TestRankEndsOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.berth(append(append([]string{"bag", "--workers", "2", "--each-rank"}, twoRanks...), "--", `[ $BERTH_RANK = 1 ] || exec sleep 7741.25; echo no >&2; exit 9`)...)
	if r.code == 0 || !strings.Contains(r.stdout+r.stderr, "rank 1: exit status 9") {
		t.Errorf("the job of a rank that failed: %v", r)
	}
	if n := sleepers("7741.25"); n != 0 {
		t.Errorf("%d processes of the other rank live on", n)
	}
}

// TestKilledShare: the worker of a node on which a task has ranks is killed, the second or the first. Nothing of the task is left there or on the other node, and it
// starts again and is done once.
func TestKilledShare(t *testing.T) {
	t.Parallel()
	for node, seconds := range []string{"7742.25", "7743.25"} {
		t.Run([]string{"first", "second"}[node], func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.write("task.sh", strings.ReplaceAll(scatter, "SECONDS", seconds)+"wait\n")
			w.write("gang.sh", `echo x >>starts
[ $(wc -l <starts) = 1 ] || exit 0
for node in "$BERTH_NODE" $("$BERTH_LAUNCH" $(tail -n 1 "$BERTH_HOSTFILE") 'echo "$BERTH_NODE"'); do
	node=${node%.*}
	echo ${node#*/} >>nodes
done
"$BERTH_LAUNCH" $(tail -n 1 "$BERTH_HOSTFILE") sh task.sh & sh task.sh
`)
			id := job.ID(strings.TrimSpace(w.must(append(append([]string{"bag", "--detach", "--workers", "2"}, twoRanks...), "--", "sh", "gang.sh")...).stdout))
			w.await("the processes on both nodes, of which each worker has noted the one that nothing else tells", func() bool { return sleepers(seconds) == 6 && w.noted() == 2 })
			files, err := filepath.Glob(filepath.Join(w.home().Server(), "allocs", "*", textLines(w.read("nodes"))[node]+".pid"))
			if err != nil || len(files) != 1 {
				t.Fatalf("the node's worker is in %v (%v)", files, err)
			}
			var pid int
			if b, err := os.ReadFile(files[0]); err == nil {
				_, _ = fmt.Sscan(string(b), &pid)
			}
			if pid == 0 || unix.Kill(pid, unix.SIGKILL) != nil {
				t.Fatalf("the node's worker %d cannot be killed", pid)
			}
			w.must("wait", string(id))
			if n := sleepers(seconds); n != 0 {
				t.Errorf("%d processes live on", n)
			}
			var ends []event.Outcome
			for _, r := range w.records(id) {
				if e, ok := r.Record.(event.AttemptEnded); ok {
					ends = append(ends, e.Outcome)
				}
			}
			if len(ends) != 2 || ends[0] != event.Lost || ends[1] != event.Done {
				t.Errorf("the attempts ended %v", ends)
			}
		})
	}
}

// noted counts the workers that have noted processes of tasks without the environment of these, which are found by that alone once the worker is dead.
func (w *world) noted() (n int) {
	files, _ := filepath.Glob(filepath.Join(w.home().Dir, "scratch", "*", "lock"))
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && len(textLines(string(b))) > 3 {
			n++
		}
	}
	return n
}

// TestGangOutlivesCoordinator: the ranks of a task go on while there is no coordinator, and the next one knows them.
func TestGangOutlivesCoordinator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.start(append(append([]string{"bag", "--workers", "2", "--each-rank"}, twoRanks...), "--", "echo x >>begun; until [ -e go ]; do sleep 0.1; done; echo x >>done")...)
	w.await("both ranks", func() bool { return w.lines("begun") == 2 })
	for _, pid := range w.berths(coordinatorRole) {
		w.ok(unix.Kill(pid, unix.SIGKILL))
	}
	w.write("go", "")
	if res := w.finish(r); res.code != 0 {
		t.Errorf("the command that watched: %v", res)
	}
	if b, d := w.lines("begun"), w.lines("done"); b != 2 || d != 2 {
		t.Errorf("%d ranks began, %d were done", b, d)
	}
}

// TestGangOnHosts is TestGangs on hosts that ssh reaches.
func TestGangOnHosts(t *testing.T) {
	t.Parallel()
	w, h1, h2 := newHosts(t)
	w.checkGangs(3, 2, "--on", "ssh", "--hosts", "2/h1,2/h2", "--idle-timeout", "1s")
	deserted(w, h1, h2)
}
