package test

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mrjobVar names the environment variable with the folder of a Python environment that has mrjob (scripts/mrjob.sh).
const mrjobVar = "BERTH_MRJOB"

// mrjobRow is a job of mrjob and how it is compared.
type mrjobRow struct {
	job       string // a class of mrjob/jobs.py, or an example of mrjob
	reference string // the runner of the reference: inline, unless the job has programs, which only the local runner supports
	args      string
	cause     string // the failure's cause as the hadoop runner reports it; "": the job is done
}

// mrjobRows are the jobs, each of which tests something that no other does. Some of mrjob's examples are missing: those that sample at random, print dictionaries in the order of their
// values' arrival, need other data than text, or need Spark or Java. By default mrjob packs itself for the tasks, each of which unpacks it and compiles
// it: that takes most of a job's processor time, so only those with --bootstrap-mrjob do it, one of which fails; the others import the installed mrjob.
var mrjobRows = []mrjobRow{
	{"mr_next_word_stats", "inline", "--bootstrap-mrjob a.txt b.txt", ""},
	{"Counting", "inline", "a.txt.gz b.txt", ""},
	{"Combining", "inline", "a.txt b.txt", ""},
	{"Steps", "inline", "a.txt b.txt", ""},
	{"MapOnly", "inline", "a.txt b.txt", ""},
	{"NoReducerOutput", "inline", "a.txt b.txt", ""},
	{"InitFinal", "inline", "a.txt b.txt", ""},
	{"SortValues", "inline", "a.txt b.txt", ""},
	{"Raw", "inline", "a.txt b.txt", ""},
	{"Protocols", "inline", "r.json", ""},
	{"Commands", "local", "a.txt b.txt", ""},
	{"WholeFiles", "inline", "a.txt b.txt", ""},
	{"PreFilter", "local", "a.txt", ""},
	{"PassThrough", "inline", "--least 3 --stop stop.txt a.txt", ""},
	{"Shipped", "inline", "--bootstrap-mrjob a.txt", ""},
	{"CmdEnv", "inline", "--cmdenv GREETING=hi -D mapreduce.job.name=mine a.txt", ""},
	{"ByFile", "inline", "a.txt b.txt", ""},
	{"Partitioned", "inline", "a.txt b.txt", ""},
	{"Numeric", "inline", "a.txt b.txt", ""},
	{"Empty", "inline", "a.txt", ""},
	{"FailsInMapper", "inline", "--bootstrap-mrjob a.txt b.txt", `subprocess failed with code 1\n(.*\n)*ValueError: no foxes, please\n(.*\n)*while reading input from lines 1-\d+ of file://.*/a\.txt\n`},
	{"FailsInReducer", "inline", "a.txt b.txt", `subprocess failed with code 1\n(.*\n)*KeyError: 'a fox in the reducer'\n`},
	{"FailsInStep", "inline", "a.txt b.txt", `RuntimeError: the second step is broken\n`},
	{"Exits", "local", "b.txt", `subprocess failed with code 42\n(.*\n)*last words\n`},
}

// TestMRJob runs jobs of mrjob with -r hadoop in a HADOOP_HOME of berth. Their output and counters equal those of a run inside one Python
// process. For jobs that fail, the probable cause is found.
func TestMRJob(t *testing.T) {
	t.Parallel()
	venv := os.Getenv(mrjobVar)
	if venv == "" {
		t.Skip(mrjobVar + " names no Python environment with mrjob; make test makes one with scripts/mrjob.sh")
	}
	w := newWorld(t)
	writeMRJobInputs(t, w)
	w.must("hadoop-home", filepath.Join(w.root, "hadoop"))
	examples, err := filepath.Glob(filepath.Join(venv, "lib", "python3*", "site-packages", "mrjob", "examples"))
	if err != nil || len(examples) != 1 {
		t.Fatalf("mrjob's examples are not in %s: %v", venv, err)
	}
	t.Run("jobs", func(t *testing.T) { // ends when all of them have ended
		for _, row := range mrjobRows {
			t.Run(row.job, func(t *testing.T) {
				t.Parallel()
				m := &mrjobs{world: w, venv: venv, examples: examples[0]}
				m.check(t, row)
			})
		}
	})
	checkMRJobProfile(t, w)
}

// checkMRJobProfile checks that a second run of a job uses the profile of the first one, although its files come from another folder.
func checkMRJobProfile(t *testing.T, w *world) {
	runs, err := w.home().List()
	if err != nil {
		t.Fatal(err)
	}
	known := 0
	for _, r := range runs {
		if plan, err := os.ReadFile(r.Plan()); err == nil && bytes.Contains(plan, []byte(`"source": "profile of`)) {
			known++
		}
	}
	if known == 0 { // most jobs are the same file with the same arguments
		t.Errorf("none of %d runs had a profile", len(runs))
	}
}

func writeMRJobInputs(t *testing.T, w *world) {
	t.Helper()
	jobs, err := os.ReadFile(filepath.Join("mrjob", "jobs.py"))
	if err != nil {
		t.Fatal(err)
	}
	w.write("jobs.py", string(jobs))
	var a strings.Builder
	for i := range 20 {
		n := strconv.Itoa(i)
		a.WriteString("the quick brown fox no " + n + " jumps over the dogs, isn't it ü" + n + "\n")
	}
	w.write("a.txt", a.String())
	w.write("a.txt.gz", string(gzipped(t, a.String())))
	w.write("b.txt", "short\nthe end, my friend of the wild beasts\n")
	w.write("r.json", `{"name":"x","n":1}`+"\n"+`{"name":"ü","n":2}`+"\n"+`{"name":"x","n":5}`+"\n")
	w.write("stop.txt", "the no\n")
	w.write("extra/list.txt", "the\nfox\n")
	w.write("pack/inner.txt", "packed\n")
	if out, err := exec.Command("tar", "-czf", filepath.Join(w.dir, "extra.tar.gz"), "-C", filepath.Join(w.dir, "pack"), "inner.txt").CombinedOutput(); err != nil {
		t.Fatalf("tar: %v %s", err, out)
	}
}

// mrjobs runs jobs of mrjob.
type mrjobs struct {
	*world
	venv, examples string
}

// check compares a job with its reference.
func (m *mrjobs) check(t *testing.T, row mrjobRow) {
	want, got := m.run(t, row, row.reference), m.run(t, row, "hadoop")
	if row.cause != "" {
		_, cause, told := strings.Cut(got.stderr, "Probable cause of failure:")
		if want.code == 0 || got.code == 0 || !told || !regexp.MustCompile(row.cause).MatchString(cause) {
			t.Errorf("the cause is not %s: %v", row.cause, got)
		}
		return
	}
	if want.code != 0 || got.code != 0 {
		t.Fatalf("the reference: %v\nberth: %v", want, got)
	}
	if sorted(got.stdout) != sorted(want.stdout) {
		t.Errorf("got\n%.2000s\nwant\n%.2000s", sorted(got.stdout), sorted(want.stdout))
	}
	if g, r := mrjobCounters(got.stderr), mrjobCounters(want.stderr); !maps.Equal(g, r) {
		t.Errorf("counters are %v, want %v", g, r)
	}
	if !strings.Contains(got.stderr, "Running job: job_") || !strings.Contains(got.stderr, "\t\tMap input records=") {
		t.Errorf("the job's id or its counters were not found: %s", got.stderr)
	}
}

func (m *mrjobs) run(t *testing.T, row mrjobRow, runner string) result {
	t.Helper()
	script, class := filepath.Join(m.examples, row.job+".py"), ""
	if !strings.HasPrefix(row.job, "mr_") {
		script, class = filepath.Join(m.dir, "jobs.py"), row.job
	}
	args := append([]string{script, "--no-conf", "--no-bootstrap-mrjob", "-r", runner}, strings.Fields(row.args)...)
	cmd := exec.Command(filepath.Join(m.venv, "bin", "python3"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.dir, &stdout, &stderr
	// The seed keeps sets in one order in all processes, as some jobs print them.
	cmd.Env = append(m.env(), "PATH="+filepath.Join(m.venv, "bin")+":"+os.Getenv("PATH"), "HADOOP_HOME="+filepath.Join(m.root, "hadoop"),
		"MRJOB_TEST_JOB="+class, "PYTHONWARNINGS=ignore", "PYTHONHASHSEED=0")
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// hadoopGroups are the groups of Hadoop's own counters, which a run in one process does not have.
var hadoopGroups = []string{"File Input Format Counters", "File Output Format Counters", "Job Counters", "Map-Reduce Framework"}

// mrjobCounters returns the job's own counters that mrjob printed, summed over its steps.
func mrjobCounters(log string) map[string]int {
	sums, group := map[string]int{}, ""
	for _, line := range strings.Split(log, "\n") {
		name, inner := strings.CutPrefix(line, "\t\t")
		if !inner {
			group = ""
			if outer, ok := strings.CutPrefix(line, "\t"); ok && !slices.Contains(hadoopGroups, strings.TrimSpace(outer)) {
				group = outer
			}
			continue
		}
		i := strings.LastIndexByte(name, '=')
		if n, err := strconv.Atoi(name[i+1:]); err == nil && i >= 0 && group != "" {
			sums[group+"/"+name[:i]] += n
		}
	}
	return sums
}
