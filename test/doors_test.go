package test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"berth/test/support/slurmtest"
)

// doorsVar names the environment variable with the folder of a Python environment that has the engines (scripts/doors.sh).
const doorsVar = "BERTH_DOORS"

// doors is a world with the engines and the Python package of the checkout.
type doors struct {
	*world
	venv    string
	library string // where the wheel is installed
}

// newDoors returns a world in which the package is installed.
func newDoors(t *testing.T) *doors {
	t.Helper()
	venv := os.Getenv(doorsVar)
	if venv == "" {
		t.Skip(doorsVar + " names no Python environment with the engines; make test makes one with scripts/doors.sh")
	}
	library, err := installed()
	if err != nil {
		t.Fatal(err)
	}
	return &doors{world: newWorld(t), venv: venv, library: library}
}

// installed installs the package of the checkout from its wheel, as a user does, and returns the folder.
var installed = sync.OnceValues(func() (string, error) {
	source, library := filepath.Join(shared, "python"), filepath.Join(shared, "library") // pip writes into the folder that it builds
	if err := os.CopyFS(source, os.DirFS(filepath.Join("..", "python"))); err != nil {
		return "", err
	}
	out, err := exec.Command(filepath.Join(os.Getenv(doorsVar), "bin", "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
		"--no-build-isolation", "--target", library, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pip install: %w: %s", err, out)
	}
	return library, nil
})

// command returns a program of the user's, which finds the engines and berth, and what it will print.
func (d *doors) command(t *testing.T, command string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("/bin/sh", append([]string{"-c", `exec "$0" "$@"`, command}, args...)...) // which looks into the PATH below
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = d.dir, &out, &out
	path := []string{filepath.Join(d.root, "bin"), filepath.Join(d.venv, "bin"), filepath.Dir(program), os.Getenv("PATH")}
	cmd.Env = append(d.env(), "BERTH="+program, "PYTHONPATH="+d.library+":"+d.tests(t), "PYTHONDONTWRITEBYTECODE=1", "NXF_OFFLINE=true",
		"NXF_HOME="+filepath.Join(d.root, "nxf"), "PATH="+strings.Join(path, ":"))
	return cmd, &out
}

// run runs a program of the user's and returns what it printed.
func (d *doors) run(t *testing.T, command string, args ...string) string {
	t.Helper()
	cmd, out := d.command(t, command, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", command, args, err, out.String())
	}
	return out.String()
}

func (d *doors) tests(t *testing.T) string {
	t.Helper()
	tests, err := filepath.Abs(filepath.Join("..", "python", "tests"))
	if err != nil {
		t.Fatal(err)
	}
	return tests
}

// python runs a file of python/tests.
func (d *doors) python(t *testing.T, args ...string) string {
	t.Helper()
	for i, a := range args {
		args[i] = strings.Replace(a, "TESTS", d.tests(t), 1)
	}
	return d.run(t, filepath.Join(d.venv, "bin", "python"), args...)
}

// TestDoorsPython: the package's own tests hold, with joblib, submitit and Parsl of PyPI.
func TestDoorsPython(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	for _, file := range []string{"test_executor.py", "test_libraries.py", "test_needs.py", "test_notes.py", "test_show.py"} {
		d.python(t, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", d.dir, filepath.Join("TESTS", file))
	}
}

// TestDoorsCPython: CPython's own tests of executors hold for berth.Executor; those that cannot apply are listed in cpython.py.
func TestDoorsCPython(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	python := ""
	for _, p := range []string{filepath.Join(d.venv, "bin", "python"), "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import test.test_concurrent_futures").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skip("no Python here has CPython's tests: on Debian they are in libpython3.11-testsuite, or that of its version")
	}
	d.run(t, python, filepath.Join(d.tests(t), "cpython.py"))
}

// TestDoorsFaults: a process that makes an executor, the coordinator and workers are killed. All results are there, and no call has
// run twice to its end.
func TestDoorsFaults(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	// The rounds of the seeds 2 and 3 kill each of them.
	t.Log(d.python(t, filepath.Join("TESTS", "faults.py"), fmt.Sprint(faultSeed(t)+1), fmt.Sprint(faultRounds(t, 2))))
}

// TestDoorsSnakemake: a Snakemake that is killed leaves its jobs running, and the next one finds them and runs none again.
func TestDoorsSnakemake(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	d.write("Snakefile", `rule all:
    input: "one", "two"
rule one:
    output: "one"
    shell: "echo begun >> runs; echo > ready; cat gate > {output}"
rule two:
    input: "one"
    output: "two"
    resources: mem_mb=5 # Snakemake itself needs more
    shell: "cp one two"
`)
	d.run(t, "mkfifo", "ready", "gate")
	d.run(t, "sh", "-c", "mkdir -p .snakemake/berth_tasks/opening; : > .snakemake/berth_tasks/opening/lock") // an even earlier one was killed here
	d.run(t, "berth", "bag", "--open", "-J", "snakemake", "--", "/bin/sh", "-c")
	used := strings.TrimSpace(d.run(t, "berth", "bag", "--open", "-J", "snakemake", "--", "sh", "{3}"))
	d.run(t, "sh", "-c", `setsid snakemake --executor berth --jobs unlimited > log 2>&1 & pid=$!; cat ready; kill -9 -$pid; wait $pid; snakemake --unlock`)
	said := d.run(t, "sh", "-c", `snakemake --executor berth --jobs unlimited --rerun-incomplete > again 2>&1 & pid=$!
until grep -q "an earlier Snakemake" again || ! kill -0 $pid; do sleep 0.1; done
echo through > gate; wait $pid; cat again`)
	if got := d.run(t, "sh", "-c", "berth status --json | tr '{' '\n' | grep -c '\"open\":true'; berth close "+used); !strings.HasPrefix(got, "1\n") {
		t.Errorf("open bags, of which one is the user's own: %s", got)
	}
	if left, err := os.ReadDir(filepath.Join(d.dir, ".snakemake", "berth_tasks")); err != nil || len(left) != 0 {
		t.Errorf("notes on tasks that are over are left: %v, %v", left, err)
	}
	if !strings.Contains(said, "which an earlier Snakemake has started") || d.read("runs") != "begun\n" || d.read("two") != "through\n" {
		t.Errorf("runs: %q, two: %q\n%s", d.read("runs"), d.read("two"), said)
	}
}

// block is a part of a page between lines of three backquotes.
var block = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// named is the first line of a block that is a file.
var named = regexp.MustCompile(`\A(?:#!.*\n)?(?:#|//) ([\w.]+)\n`)

// TestDoorsExamples: the examples of the pages print what the pages say, those apart that have a test of their own.
func TestDoorsExamples(t *testing.T) {
	t.Parallel()
	newDoors(t).examples(t, func(command string) bool {
		return !strings.Contains(command, "nextflow") && !strings.Contains(command, "cluster-generic") && !strings.Contains(command, "miniwdl")
	}, "python.md", "engines.md")
}

// TestDoorsNextflow: so do those with Nextflow.
func TestDoorsNextflow(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	d.nextflow(t, "nextflow")
	d.examples(t, ofNextflow, "engines.md")
}

func ofNextflow(command string) bool { return strings.Contains(command, "nextflow") }

// examples writes the files that pages show, and runs those of their commands that runs says.
func (d *doors) examples(t *testing.T, runs func(command string) bool, pages ...string) {
	t.Helper()
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		said, ran := "", false
		for _, b := range block.FindAllStringSubmatch(string(text), -1) {
			file := named.FindStringSubmatch(b[2])
			switch {
			case file != nil:
				d.write(file[1], b[2])
			case b[1] == "text":
				if ran && !strings.Contains(said, strings.TrimSpace(b[2])) {
					t.Errorf("%s: the example printed\n%s\nand not\n%s", page, said, b[2])
				}
			case b[1] == "python" || b[1] == "shell" || b[1] == "r":
				if ran = runs(b[2]); ran {
					d.clear(t)
					said = d.example(t, b[1], b[2])
				}
			}
		}
	}
}

// clear removes the results of an earlier example, which an engine would not make again.
func (d *doors) clear(t *testing.T) {
	t.Helper()
	results, err := filepath.Glob(filepath.Join(d.dir, "*.txt"))
	for _, r := range results {
		err = errors.Join(err, os.Remove(r))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// example runs a program or a command of a page and returns what it printed.
func (d *doors) example(t *testing.T, language, text string) string {
	t.Helper()
	if language == "shell" {
		return d.run(t, "sh", "-ec", text)
	}
	interpreter := map[string]string{"python": "python", "r": "Rscript"}[language]
	d.write("example", text)
	return d.run(t, interpreter, "example")
}

// TestDoorsCromwell: the commands of the recipe for Cromwell do what Cromwell wants of them: one prints an id that the regular expression
// finds, one succeeds while the job is not over, and one ends it.
func TestDoorsCromwell(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	d.examples(t, func(string) bool { return false }, "engines.md") // writes the files
	page, err := os.ReadFile(filepath.Join("..", "docs", "engines.md"))
	if err != nil {
		t.Fatal(err)
	}
	key := func(name string) string {
		m := regexp.MustCompile(`(?m)^ +` + name + ` = "(.*)"$`).FindStringSubmatch(string(page))
		if m == nil {
			t.Fatalf("the page has no %s", name)
		}
		return m[1]
	}
	d.run(t, "mkfifo", "begun", "gate")
	d.write("script", "echo > begun; cat gate >> result\n")
	bag := strings.TrimSpace(d.must("bag", "--open", "--", "sh", "{3}").stdout)
	command := func(name, id string) string {
		values := strings.NewReplacer("${cpu}", "1", "${memory_mb}", "500", "${script}", filepath.Join(d.dir, "script"), "${job_id}", id)
		return "export BAG=" + bag + "; " + values.Replace(key(name))
	}
	pattern := regexp.MustCompile(strings.ReplaceAll(key("job-id-regex"), `\\`, `\`))
	submit := func() string { return pattern.FindStringSubmatch(d.run(t, "sh", "-c", command("submit", "")))[1] }
	id := submit()
	d.run(t, "sh", "-c", "cat begun; "+command("check-alive", id)+" && echo through > gate")
	d.await("the job is over", func() bool { return d.berth("status", bag, id).stdout == "done\n" })
	d.run(t, "sh", "-c", "! { "+command("check-alive", id)+"; }")
	second := submit()
	d.run(t, "sh", "-c", "cat begun; "+command("kill", second)+"; ! { "+command("check-alive", second)+"; }")
	if id != "1" || second != "2" || d.read("result") != "through\n" {
		t.Errorf("ids %s and %s, result %q", id, second, d.read("result"))
	}
}

func (d *doors) hasNextflow(folder string) bool {
	_, err := os.Stat(filepath.Join(d.venv, folder, "ready"))
	return err == nil
}

// nextflow writes a command nextflow that runs the jars in a folder of scripts/doors.sh, as its installer cannot be fetched everywhere.
func (d *doors) nextflow(t *testing.T, folder string) {
	t.Helper()
	if !d.hasNextflow(folder) {
		t.Skip("there are no Java and Maven, with which scripts/doors.sh fetches the jars of Nextflow")
	}
	var opens strings.Builder
	for _, p := range []string{"lang", "util", "net", "io", "nio"} {
		opens.WriteString(" --add-opens=java.base/java." + p + "=ALL-UNNAMED")
	}
	script := "#!/bin/sh\nexec java -XX:TieredStopAtLevel=1" + opens.String() + " --add-opens=java.base/sun.nio.ch=ALL-UNNAMED -cp '" +
		filepath.Join(d.venv, folder, "jars") + "/*' nextflow.cli.Launcher \"$@\"\n"
	bin := filepath.Join(d.root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "nextflow"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
}

// TestSlurmDoors: the jobs of a workflow and the calls of an executor are in few batch jobs of Slurm. Where they come one by one, as
// from a busy machine, the first batch jobs are for those that there were; but no core is requested twice, so there are four at most.
func TestSlurmDoors(t *testing.T) {
	t.Parallel()
	d := newDoors(t)
	d.batch = append(slurmtest.Start(t, slurmtest.Nodes(2), slurmtest.CPUs(4)).Env(), "BERTH_LISTEN=127.0.0.1")
	d.write("calls.py", `import berth, os

def where(i):
    return os.environ["SLURM_JOB_ID"]

if __name__ == "__main__":
    with berth.Executor(flags=["--on", "slurm"]) as executor:
        print(len(set(executor.map(where, range(20)))), "batch jobs")
`)
	if said := d.run(t, "python", "calls.py"); !regexp.MustCompile(`\A[1-4] batch jobs\n\z`).MatchString(said) {
		t.Errorf("twenty calls were in %s", said)
	}
	d.write("Snakefile", `rule all:
    input: "sum", "piped", "met", "served", "nice", "ranks"
rule part:
    output: "part{i}"
    shell: "echo $SLURM_JOB_ID > {output}"
rule sum:
    input: expand("part{i}", i=range(8))
    output: "sum"
    shell: "sort -u {input} > {output}"
rule first:
    output: pipe("p1")
    resources: mem_mb=50, tasks=1
    shell: "seq 1000 > {output}"
rule second:
    input: "p1"
    output: pipe("p2")
    resources: mem_mb=50, tasks=1
    shell: "cat {input} > {output}"
rule third:
    input: "p2"
    output: "piped"
    resources: mem_mb=50, tasks=1
    shell: "wc -l < {input} > {output}"
rule meet: # each waits for the other one
    output: "met{i,[12]}"
    group: "pair"
    shell: "touch {output}.here; until [ -e met1.here ] && [ -e met2.here ]; do sleep 0.1; done; touch {output}"
rule met:
    input: "met1", "met2"
    output: "met"
    group: "pair"
    shell: "touch {output}"
rule serve:
    output: service("served.by")
    shell: "echo 7 > {output}; sleep 10000"
rule served:
    input: "served.by"
    output: "served"
    shell: "cp {input} {output}"
rule nice:
    output: "nice"
    resources: slurm_extra="--nice 77", lsf_queue="short"
    shell: "scontrol show job $SLURM_JOB_ID | grep -o Nice=[0-9]* > {output}"
rule ranks:
    output: "ranks"
    resources: mpi="srun", tasks=2, nodes=2
    shell: "{resources.mpi} sh -c 'echo $SLURMD_NODENAME' | sort > {output}"
`)
	said := d.run(t, "snakemake", "--executor", "berth", "--jobs", "unlimited", "--berth-flags", "--on slurm")
	if n := strings.Count(d.read("sum"), "\n"); n < 1 || n > 4 {
		t.Errorf("eight jobs were in %d batch jobs\n%s", n, said)
	}
	if got := d.read("piped") + d.read("served") + d.read("nice") + d.read("ranks"); got != "1000\n7\nNice=77\nn1\nn2\n" {
		t.Errorf("pipes, a service, an argument of sbatch and ranks made\n%s\n%s", got, said)
	}
	if strings.Count(said, "lsf_queue\n") != 1 {
		t.Errorf("a resource that does nothing is not named once\n%s", said)
	}
}
