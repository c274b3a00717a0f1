package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBagSources feeds a bag from each kind of source.
func TestBagSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("lines.txt", "one\ntwo words\n\nlast")
	w.batch = []string{noBatch, "BERTH_MY_OWN=mine", "BERTH_STAGE=outer", "PMI_RANK=outer", "SLURM_JOB_NODELIST=inside"}
	tests := []struct {
		name  string
		args  []string
		stdin string
		want  []string // standard output by task, from 1
	}{
		{"lines", []string{"--each-line", "lines.txt", "--", "echo", "<{}>"}, "", []string{"<one>\n", "<two words>\n", "<>\n", "<last>\n"}},
		{"stdin", []string{"--", "echo"}, "x\ny\n", []string{"x\n", "y\n"}},
		{"lists", []string{"--", "echo", "{1}-{2}", ":::", "a", "b", ":::", "1", "2"}, "", []string{"a-1\n", "a-2\n", "b-1\n", "b-2\n"}},
		{"array", []string{"--array", "1-3", "--", "sh", "-c", "echo $SLURM_ARRAY_TASK_ID $BERTH_TASK_ID"}, "", []string{"1 1\n", "2 2\n", "3 3\n"}},
		{"environment", []string{"--", "echo $BERTH_ON $BERTH_MY_OWN $BERTH_STAGE $PMI_RANK $SLURM_JOB_NODELIST {}", ":::", "x"}, "", []string{"local mine inside x\n"}},
		{"shell", []string{"--", "echo {} | tr a-z A-Z", ":::", "it's"}, "", []string{"IT'S\n"}},
	}
	for _, tt := range tests {
		cmd := w.command(append([]string{"bag"}, tt.args...)...)
		cmd.Stdin = strings.NewReader(tt.stdin)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
			continue
		}
		id := w.jobs()[len(w.jobs())-1]
		for i, want := range tt.want {
			if got := w.read(fmt.Sprintf("%s/%d.stdout", id, i+1)); got != want {
				t.Errorf("%s: task %d wrote %q, want %q", tt.name, i+1, got, want)
			}
		}
		if more, _ := filepath.Glob(filepath.Join(w.dir, string(id), "*")); len(more) != len(tt.want) { // no task has written to its standard error
			t.Errorf("%s: files %v", tt.name, more)
		}
	}
}

// TestBagFailures checks that the exit code counts failed tasks, that their last output is shown,
// and that resume --failed runs exactly these tasks again.
func TestBagFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\necho $1 >>ran\n[ -e fixed ] || [ $1 -le 2 ] || { echo broken pipe $1 >&2; exit 3; }\n")
	r := w.berth("bag", "--joblog", "log.tsv", "--", "./task.sh", ":::", "1", "2", "3", "4", "5")
	if r.code != 3 {
		t.Fatalf("want exit 3, the number of failed tasks: %v", r)
	}
	if !strings.Contains(r.stderr, "broken pipe 4") {
		t.Errorf("the failing task's last words are not shown: %s", r.stderr)
	}
	log := strings.Split(strings.TrimSpace(w.read("log.tsv")), "\n")
	if len(log) != 6 || !strings.HasPrefix(log[0], "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand") {
		t.Errorf("job log: %q", log)
	}
	w.write("fixed", "")
	id := string(w.jobs()[0])
	if r := w.berth("resume", id); !strings.Contains(r.stderr, "--failed") {
		t.Errorf("a resume with nothing but failed tasks should name --failed: %v", r)
	}
	w.must("resume", id, "--failed")
	if got := len(strings.Fields(w.read("ran"))); got != 5+3 {
		t.Errorf("%d runs of tasks, want 8", got)
	}
}

// TestBagLimits covers retries, --max-fails, the time limit and memory.
func TestBagLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("flaky.sh", "#!/bin/sh\nmkdir tried 2>/dev/null && exit 1 || exit 0\n")
	w.must("bag", "--retries", "1", "--array", "1", "--", "./flaky.sh")

	if r := w.berth("bag", "--max-fails", "0", "-c", "2", "--array", "1-50%2", "--", "sh", "-c", "echo x >>fails; exit 1"); r.code == 0 {
		t.Errorf("want a failure: %v", r)
	}
	if n := len(strings.Fields(w.read("fails"))); n > 4 {
		t.Errorf("%d tasks ran after the first failure", n)
	}
	r := w.berth("bag", "--time-limit", "1s", "--", "sleep", ":::", "600")
	if r.code != 1 || !strings.Contains(r.stderr, "time limit") {
		t.Errorf("want a task that is stopped at its time limit: %v", r)
	}
	r = w.berth("bag", "--mem", "20M", "--array", "1", "--", "sh", "-c", "x=$(head -c 60000000 /dev/zero | tr '\\0' x); echo ${#x}; sleep 1000")
	if r.code != 1 || !strings.Contains(r.stderr, "--mem") {
		t.Errorf("want a task that is stopped for its memory: %v", r)
	}
	r = w.berth("bag", "-c", "9999", "--array", "1", "--", "true")
	if r.code != 255 || !strings.Contains(r.stderr, "9,999") {
		t.Errorf("want a refusal of what no node has: %v", r)
	}
}

// TestCancelAndResume cancels a bag and resumes it: tasks that are done are not run again.
func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("task.sh", "#!/bin/sh\n[ $1 -le 5 ] || while [ ! -e go ]; do sleep 0.2; done\necho $1 >>ran\n")
	w.must("bag", "--detach", "--array", "1-8", "--", "./task.sh", "{}")
	id := string(w.jobs()[0])
	w.await("five tasks to be done", func() bool { return w.tasksDone() == 5 })
	w.must("cancel", id)
	if r := w.berth("wait", id); r.code != 255 {
		t.Errorf("the wait for a cancelled bag: %v", r)
	}
	w.write("go", "")
	w.must("resume", id)
	if got := len(strings.Fields(w.read("ran"))); got != 8 {
		t.Errorf("%d runs of tasks, want 8", got)
	}
	if r := w.must("status"); !strings.Contains(r.stdout, "done") {
		t.Errorf("status: %s", r.stdout)
	}
	if r := w.must("report", id); !strings.Contains(r.stdout, "compute") {
		t.Errorf("report: %s", r.stdout)
	}
}

// TestBadInput checks that each mistake gets one clear line and its exit code, and leaves no files.
func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("in.txt", "a\n")
	w.write("there/x", "")
	w.write("job.toml", "kind = \"bag\"\n\n[bag]\ncommmand = [\"true\"]\narray = \"1-3\"\n")
	mr := func(args ...string) []string { return append([]string{"mapreduce"}, args...) }
	tests := []struct {
		args []string
		code int
		says string
	}{
		{mr("-input", "in.txt", "-output", "there", "-mapper", "cat"), 4, "there"},
		{mr("-input", "nothing.txt", "-output", "out", "-mapper", "cat"), 2, "nothing.txt"},
		{mr("-input", "in.txt", "-output", "out", "-mappper", "cat"), 1, "-mapper"},
		{mr("-input", "in.txt", "-output", "out", "-mapper", "cat", "-D", "mapreduce.job.reduces=many"), 3, "many"},
		{mr("-input", "in.txt", "-mapper", "cat"), 1, "-output"},
		{[]string{"run", "job.toml"}, 255, `job.toml:4: unknown key "commmand"; did you mean "command"?`},
		{[]string{"bag", "--array", "5-1", "--", "true"}, 255, "5-1"},
		{[]string{"bag", "--each-line", "missing.txt", "--", "true"}, 255, "missing.txt"},
		{[]string{"bag", "--mem", "lots", "--array", "1", "--", "true"}, 255, "lots"},
		{[]string{"cancel", "bag-99"}, 1, "bag-99"},
		{[]string{"resume", "bag-99"}, 255, "bag-99"},
	}
	before := listing(t, w.dir)
	for _, tt := range tests {
		r := w.berth(tt.args...)
		if r.code != tt.code || !strings.Contains(r.stderr, tt.says) {
			t.Errorf("berth %s: want exit %d and %q: %v", strings.Join(tt.args, " "), tt.code, tt.says, r)
		}
		if lines := strings.Count(r.stderr, "\n"); lines > 1 {
			t.Errorf("berth %s: %d lines: %s", strings.Join(tt.args, " "), lines, r.stderr)
		}
	}
	if after := listing(t, w.dir); after != before {
		t.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
	if ids := w.jobs(); len(ids) != 0 {
		t.Errorf("runs were left: %v", ids)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		fmt.Fprintln(&b, p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
