package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/sys/probe"
	"berth/test/support/slurmtest"
)

// newLongDoors returns doors for a test that takes longer than make test has time for.
func newLongDoors(t *testing.T) *doors {
	t.Helper()
	if os.Getenv(roundsVar) == "" {
		t.Skip(roundsVar + " is not set; make doors-soak runs this test, which takes minutes")
	}
	return newDoors(t)
}

// TestDoorsFaultsSnakemake: Snakemake is killed and started again, and the coordinator, workers, what forks jobs and forked jobs are killed. The
// workflow ends right, and no rule's job has run twice to its end.
func TestDoorsFaultsSnakemake(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	t.Log("\n" + d.python(t, filepath.Join("TESTS", "snakefaults.py"), fmt.Sprint(faultSeed(t)), fmt.Sprint(faultRounds(t, 1))))
}

// TestDoorsFaultsNextflow: Nextflow is killed and started again, the coordinator and workers are killed, and workers are told to end. The
// workflow ends right, though Nextflow retries nothing, and no process has run twice to its end in one folder.
func TestDoorsFaultsNextflow(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	d.nextflow(t, "nextflow")
	t.Log("\n" + d.python(t, filepath.Join("TESTS", "nextfaults.py"), fmt.Sprint(faultSeed(t)), fmt.Sprint(faultRounds(t, 1))))
}

// TestDoorsFaultsR: an R session is killed and started again, and the coordinator and workers are killed. All jobs have their values, and none has
// run twice to its end.
func TestDoorsFaultsR(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	d.withR(t)
	t.Log("\n" + d.python(t, filepath.Join("TESTS", "rfaults.py"), fmt.Sprint(faultSeed(t)), fmt.Sprint(faultRounds(t, 1))))
}

// ways is a workflow with what Nextflow leaves to an executor: more memory for another attempt, a time limit, the errors of a submission, flags of
// berth bag for one process, and names that no shell would like.
const ways = `process grows {
    memory { 200.MB * task.attempt }
    errorStrategy { task.exitStatus == 143 ? 'retry' : 'terminate' }
    output: stdout
    script: "head -c 300m /dev/zero | tail | wc -c; echo attempt ${task.attempt}"
}
process late {
    time '1s'
    errorStrategy { task.exitStatus == 143 ? 'ignore' : 'terminate' }
    script: "echo begun >> $launchDir/late; sleep 1000"
}
process fails {
    errorStrategy { task.exitStatus == 3 ? 'ignore' : 'terminate' }
    script: "echo begun >> $launchDir/fails; exit 3"
}
process own {
    clusterOptions "--priority 3 --berth-flags='--max-nodes 1'"
    queue 'long'
    disk '1 GB'
    resourceLabels team: 'a'
    maxForks 1
    tag "it's \"quoted\""
    input: val x
    output: stdout
    script: "echo own $x"
}
workflow {
    late()
    fails()
    grows | view
    channel.of(1, 2) | own | view
}
`

// TestDoorsNextflowWays: with the newest and an older Nextflow what its directives say holds, and an interrupt cancels its jobs.
func TestDoorsNextflowWays(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"nextflow", "nextflow-old"} {
		t.Run(folder, func(t *testing.T) {
			d := newLongDoors(t)
			d.nextflow(t, folder)
			d.write("nextflow.config", "executor { $hq { pollInterval = '1 sec'; queueSize = 1000; queueStatInterval = '1 sec' } }\n")
			d.write("main.nf", ways)
			const run = `eval "$(berth hq-home hq)"; `
			said := d.run(t, "bash", "-c", run+"nextflow run main.nf -process.executor hq; hq job list --all")
			for _, want := range []string{"314572800\nattempt 2\n", "own 1\n", "own 2\n", "(143) -- Error is ignored", "(3) -- Error is ignored"} {
				if !strings.Contains(said, want) {
					t.Errorf("there is no %q in\n%s", want, said)
				}
			}
			if bags := strings.Count(d.run(t, "bash", "-c", "berth status --json | tr '{' '\\n' | grep '\"open\":true'"), "\n"); bags != 2 || d.read("late") != "begun\n" || d.read("fails") != "begun\n" {
				t.Errorf("%d bags; late: %q, fails: %q\n%s", bags, d.read("late"), d.read("fails"), said)
			}
			d.write("main.nf", "process stays { script: \"echo > $launchDir/stays; sleep 1000\" }\nworkflow { stays() }\n")
			cmd, out := d.command(t, "bash", "-c", run+"exec nextflow run main.nf -process.executor hq")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			d.await("the job runs", func() bool { _, err := os.Stat(filepath.Join(d.dir, "stays")); return err == nil })
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait() // with an error
			if said := d.run(t, "bash", "-c", run+"hq job wait all; hq job list --all; hq server stop"); !strings.Contains(said, "CANCELED") {
				t.Errorf("%s\n%s", said, out.String())
			}
		})
	}
}

// lostWorkflow and lostCalls are six jobs that wait for the file gate, after each has told its allocation and its rank there in a file, and one that needs all.
const (
	lostWorkflow = `rule all:
    input: "sum"
rule part:
    output: "part{i}"
    shell: "echo $BERTH_NODE > begun{wildcards.i}; until [ -e gate ]; do sleep 0.1; done; echo {wildcards.i} | tee -a ends > {output}"
rule sum:
    input: expand("part{i}", i=range(6))
    output: "sum"
    shell: "cat {input} > {output}; echo sum >> ends"
`
	lostCalls = `import berth, os, time

def part(i):
    with open(f"begun{i}", "w") as f:
        f.write(os.environ["BERTH_NODE"])
    while not os.path.exists("gate"):
        time.sleep(0.1)
    with open("ends", "a") as f:
        f.write(f"{i}\n")
    return f"{i}\n"

if __name__ == "__main__":
    with berth.Executor(flags=["--on", "slurm"]) as executor:
        parts = list(executor.map(part, range(6)))
    with open("sum", "w") as f:
        f.writelines(parts)
    with open("ends", "a") as f:
        f.write("sum\n")
`
)

// TestSlurmDoorsLost: a node fails on which jobs of a workflow or calls of an executor run. They end right, each once.
func TestSlurmDoorsLost(t *testing.T) {
	t.Parallel()
	newLongDoors(t)
	cluster := slurmtest.Start(t, slurmtest.Nodes(3))
	crash := func(t testing.TB, node, cookie string) {
		cluster.Crash(t, node)
		pids, err := probe.PIDs()
		if err != nil {
			t.Fatal(err)
		}
		for _, pid := range pids {
			if pid != os.Getpid() && slices.Contains(probe.Environ(pid), cookie) {
				_ = unix.Kill(pid, unix.SIGKILL) // on a real node they die as well
			}
		}
	}
	stop := func(t testing.TB, node, _ string) { cluster.Stop(t, node) }
	workflow := []string{"snakemake", "--executor", "berth", "--jobs", "unlimited", "--berth-flags", "--on slurm"}
	calls := []string{"python", "calls.py"}
	for _, c := range []struct {
		name    string
		command []string
		lose    func(t testing.TB, node, cookie string)
	}{
		{"Snakemake/node", workflow, crash}, {"Snakemake/slurmd", workflow, stop}, {"Executor/node", calls, crash}, {"Executor/slurmd", calls, stop},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newLongDoors(t)
			d.batch = append(cluster.Env(), "BERTH_LISTEN=127.0.0.1")
			d.write("Snakefile", lostWorkflow)
			d.write("calls.py", lostCalls)
			d.lost(t, cluster, c.command, c.lose)
		})
	}
}

// lost begins a workflow, loses a node of it, lets its jobs end, and checks what they have done.
func (d *doors) lost(t *testing.T, cluster *slurmtest.Cluster, command []string, lose func(t testing.TB, node, cookie string)) {
	t.Helper()
	cmd, out := d.command(t, command[0], command[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	node, cookie := "", ""
	d.await("a job runs", func() bool {
		if len(ended) > 0 {
			t.Fatalf("%v: %v\n%s", command, <-ended, out.String())
		}
		begun, _ := filepath.Glob(filepath.Join(d.dir, "begun*"))
		if len(begun) == 0 {
			return false
		}
		rank := -1
		cookie = strings.TrimSpace(d.read(filepath.Base(begun[0])))
		if _, err := fmt.Sscanf(cookie, "a1/%d.", &rank); err == nil {
			node = fmt.Sprintf("n%d", rank+1) // the allocation has all nodes
		}
		return rank >= 0
	})
	lose(t, node, "BERTH_NODE="+cookie)
	cluster.WaitNode(t, node, "down", "down*")
	d.write("gate", "")
	if err := <-ended; err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out.String())
	}
	ends := strings.Fields(d.read("ends"))
	sort.Strings(ends)
	if got := strings.Join(ends, " "); got != "0 1 2 3 4 5 sum" || d.read("sum") != "0\n1\n2\n3\n4\n5\n" {
		t.Errorf("ended: %s; the sum is %q\n%s", got, d.read("sum"), out.String())
	}
	cluster.Start(t, node)
	d.await("the allocations to be given back", func() bool { return cluster.Run(t, "squeue", "--noheader") == "" })
	cluster.WaitNode(t, node, "idle")
}

// TestDoorsClusterGeneric: the recipe for Snakemake's plugin cluster-generic prints what the page says.
func TestDoorsClusterGeneric(t *testing.T) {
	t.Parallel()
	newLongDoors(t).examples(t, func(command string) bool { return strings.Contains(command, "cluster-generic") }, "engines.md")
}

// TestDoorsMiniwdl: so does the recipe for miniwdl, and its tasks fail, are retried and are ended as it wants.
func TestDoorsMiniwdl(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	d.examples(t, func(command string) bool { return strings.Contains(command, "miniwdl") }, "engines.md")
	t.Log(d.python(t, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", d.dir, filepath.Join("TESTS", "test_miniwdl.py")))
}

// TestSlurmDoorsExamples: on a private Slurm the examples of the pages print what the pages say, too.
func TestSlurmDoorsExamples(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	cluster := slurmtest.Start(t, slurmtest.Nodes(2))
	d.batch = append(cluster.Env(), "BERTH_LISTEN=127.0.0.1")
	if d.hasNextflow("nextflow") {
		d.nextflow(t, "nextflow")
	}
	d.examples(t, func(command string) bool { return d.hasNextflow("nextflow") || !strings.Contains(command, "nextflow") }, "python.md", "engines.md")
	if jobs := cluster.Run(t, "squeue", "--noheader", "--states=all", "--format=%i"); len(strings.Fields(jobs)) < 5 {
		t.Errorf("the examples were in few jobs of Slurm: %q", jobs)
	}
}

// TestDoorsLibraries: scikit-learn searches on joblib's backend, a notebook shows an executor, submitit cancels jobs, and its own tests hold;
// those that cannot apply are listed in submititown.py.
func TestDoorsLibraries(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	for _, file := range []string{"test_sklearn.py", "test_notebook.py", "test_cancel.py"} {
		t.Log(d.python(t, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", d.dir, filepath.Join("TESTS", file)))
	}
	t.Log(d.python(t, filepath.Join("TESTS", "submititown.py"), "--rootdir", d.dir))
}

// TestDoorsSnakemakeOwn: workflows of Snakemake's own tests make the files that they must make, and leave the same whether jobs are forked or not.
// Which ones is by the seed.
func TestDoorsSnakemakeOwn(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	t.Log(d.python(t, filepath.Join("TESTS", "snakeown.py"), "30", fmt.Sprint(faultSeed(t))))
}

// TestDoorsSnakemakeFlows: Snakemake's tutorial and a workflow of the public catalogue make the same files as without berth.
func TestDoorsSnakemakeFlows(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	t.Log("\n" + d.python(t, filepath.Join("TESTS", "snakeflows.py"), filepath.Join(d.venv, "sunbeam")))
}

// TestDoorsNextflowFlows: so does a pipeline of nf-core with Nextflow's executor for HyperQueue.
func TestDoorsNextflowFlows(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	d.nextflow(t, "nextflow")
	t.Log("\n" + d.python(t, filepath.Join("TESTS", "nfcore.py"), filepath.Join(d.venv, "nf-core")))
}

// TestDoorsSnakemakeInterrupt: an interrupt ends the jobs of a Snakemake. Of those that an earlier one has started it ends only what this one
// has been asked for, and the next Snakemake makes that alone again.
func TestDoorsSnakemakeInterrupt(t *testing.T) {
	t.Parallel()
	d := newLongDoors(t)
	d.write("Snakefile", `rule all:
    input: "one", "two"
rule part:
    output: "{part,one|two}"
    shell: "echo {wildcards.part} >> begun; until [ -e gate ]; do sleep 0.1; done; echo {wildcards.part} | tee -a ends > {output}"
`)
	begun := func(want string) func() bool {
		return func() bool {
			said, _ := os.ReadFile(filepath.Join(d.dir, "begun"))
			lines := strings.Fields(string(said))
			sort.Strings(lines)
			return strings.Join(lines, " ") == want
		}
	}
	stop := func(signal os.Signal, when string, is func() bool, targets string) {
		cmd, _ := d.command(t, "sh", "-c", "exec snakemake --nolock --executor berth --jobs unlimited --rerun-incomplete "+targets+" > log 2>&1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		d.await(when, is)
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // with an error, as it has not made the files
	}
	stop(os.Kill, "both jobs run", begun("one two"), "all")
	stop(os.Interrupt, "a job is found", func() bool { return strings.Contains(d.read("log"), "an earlier Snakemake has started") }, "one")
	stop(os.Interrupt, "its job runs", begun("one one two"), "one")
	d.write("gate", "")
	said := d.run(t, "snakemake", "--executor", "berth", "--jobs", "unlimited", "--rerun-incomplete")
	if !begun("one one one two")() || len(strings.Fields(d.read("ends"))) != 2 || d.read("one") != "one\n" || d.read("two") != "two\n" {
		t.Errorf("begun: %q, ends: %q\n%s", d.read("begun"), d.read("ends"), said)
	}
}
