package hqhome

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestSplit: words are those of a shell without expansions.
func TestSplit(t *testing.T) {
	got := split(`--name nf-a_(1) --log '/a b/x' --cwd /a\ b --env "A=1 \"2\"" ''` + "\n")
	want := []string{"--name", "nf-a_(1)", "--log", "/a b/x", "--cwd", "/a b", "--env", `A=1 "2"`, ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// fake is a berth with bags in memory.
type fake struct {
	flags  [][]string
	tasks  map[job.ID][]map[string]any
	states map[job.ID]map[int]State
	over   map[job.ID]bool
	ended  []string

	ensured int
}

var errClosed = errors.New("closed")

func (f *fake) command(dir string, out *strings.Builder) *Command {
	return &Command{Out: out, Dir: dir, Flags: "--on 'x y'", Bags: f}
}

func (f *fake) Open(flags []string) (job.ID, error) {
	f.flags = append(f.flags, flags)
	return job.ID("bag-" + string(rune('0'+len(f.flags)))), nil
}

func (f *fake) Add(bag job.ID, line map[string]any) (int, error) {
	if f.over[bag] {
		return 0, errClosed
	}
	if line["cpus"] == 77 {
		return 0, errors.New("no node has so many")
	}
	f.tasks[bag] = append(f.tasks[bag], line)
	return len(f.tasks[bag]) - 1, nil
}

func (f *fake) Closed(err error) bool { return errors.Is(err, errClosed) }

func (f *fake) States(bag job.ID) (map[int]State, bool, error) {
	return f.states[bag], f.over[bag], nil
}

func (f *fake) Cancel(bag job.ID, tasks []string) error {
	f.ended = append(f.ended, fmt.Sprintf("%s %s", bag, tasks))
	return nil
}

func (f *fake) Ensure() error { f.ensured++; return nil }

func (f *fake) Pause() error {
	for _, states := range f.states {
		for task := range states {
			states[task] = Finished
		}
	}
	return nil
}

func (f *fake) CloseBag(bag job.ID) error {
	f.over[bag] = true
	return nil
}

// TestCommand: jobs that Nextflow submits become tasks of one bag, whose states are told in the words of hq. Jobs are cancelled as
// tasks of their bag, unless they are over; once a bag is over, the next job is in another one.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	script := "#!/bin/bash\n#HQ --name nf-a_(1)\n#HQ --log " + dir + "/log\n#HQ --cpus 1\n#HQ --resource mem=100\n#HQ --time-limit 600sec\necho\n"
	if err := os.WriteFile("run", []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	f := &fake{tasks: map[job.ID][]map[string]any{}, states: map[job.ID]map[int]State{}, over: map[job.ID]bool{}}
	run := func(args string) string {
		t.Helper()
		var out strings.Builder
		if err := f.command(dir, &out).Run(strings.Fields(args)); err != nil {
			t.Fatal(args, err)
		}
		return out.String()
	}
	for _, want := range []string{"1\n", "2\n", "3\n"} {
		if got := run("--output-mode=quiet submit --directives=file run"); got != want {
			t.Fatalf("submit printed %q, want %q", got, want)
		}
	}
	if len(f.flags) != 1 || !reflect.DeepEqual(f.flags[0], []string{"-J", "hq", "--on", "x y"}) {
		t.Errorf("bags were opened with %q", f.flags)
	}
	want := map[string]any{"dir": dir, "cpus": 1, "mem": "100M", "time": "600s", "stdout": dir + "/log", "stderr": "none", "command": []string{"/bin/sh", "-c",
		`exec 2>&1; exec "$@"`, "hq", "/bin/bash", filepath.Join(dir, "run")}}
	if got := f.tasks["bag-1"][0]; !reflect.DeepEqual(got, want) {
		t.Errorf("the task is\n%v, want\n%v", got, want)
	}
	f.states["bag-1"] = map[int]State{0: Finished, 1: Running}
	if got := run("--output-mode quiet job list --all"); got != "1 FINISHED\n2 RUNNING\n3 WAITING\n" {
		t.Errorf("the list is %q", got)
	}
	if f.ensured != 1 {
		t.Errorf("while a job runs, a list has made sure of the coordinator %d times", f.ensured)
	}
	run("job cancel 3")
	run("job cancel 1,2")
	run("job cancel --reason enough 2-9:1")
	run("job cancel last")
	if want := []string{"bag-1 [3]", "bag-1 [2]", "bag-1 [2 3]", "bag-1 [3]"}; !reflect.DeepEqual(f.ended, want) {
		t.Errorf("%q were cancelled, want %q", f.ended, want)
	}
	if got := run("job list --filter waiting,failed --output-mode quiet"); got != "3 WAITING\n" {
		t.Errorf("of some states the list is %q", got)
	}
	var jobs []listed
	if err := json.Unmarshal([]byte(run("--server-dir /s job list --output-mode json")), &jobs); err != nil || len(jobs) != 2 || jobs[0].ID != 2 ||
		jobs[0].Name != "nf-a_(1)" || jobs[0].Tasks != 1 || jobs[0].Stats["running"] != 1 || jobs[1].Stats["waiting"] != 1 {
		t.Errorf("in JSON the list is %+v, %v", jobs, err)
	}
	for _, unneeded := range []string{"server info", "worker wait 3", "worker stop all"} {
		if got := run("--output-mode quiet " + unneeded); got != "" {
			t.Errorf("%s says %q", unneeded, got)
		}
	}
	f.over["bag-1"] = true
	if got := run("--output-mode=quiet job list --all"); got != "1 FINISHED\n2 CANCELED\n3 CANCELED\n" {
		t.Errorf("at the end the list is %q", got)
	}
	run("submit ./prog")
	if run("--output-mode=quiet submit --directives=file run") != "5\n" || len(f.flags) != 2 {
		t.Errorf("after the end of a bag the bags are %q", f.flags)
	}
	run("submit --berth-flags=--p='a_b' ./prog")
	run("submit --berth-flags=--p='a_b' ./prog")
	if want := [][]string{{"-J", "hq", "--on", "x y"}, {"-J", "hq", "--on", "x y"}, {"-J", "hq", "--on", "x y", "--p=a_b"}}; !reflect.DeepEqual(f.flags, want) {
		t.Errorf("with flags of their own the bags are %q", f.flags)
	}
	f.states["bag-2"] = map[int]State{0: Finished, 1: Running}
	f.states["bag-3"] = map[int]State{0: Failed, 1: Finished}
	run("job wait 4,5 --without-close")
	if f.states["bag-2"][1] != Finished {
		t.Error("a job was not waited for")
	}
	f.states["bag-3"] = map[int]State{0: Failed, 1: Finished}
	if err := f.command(dir, new(strings.Builder)).Run([]string{"job", "wait", "4-7"}); err == nil || !strings.HasPrefix(err.Error(), "6: the job is FAILED") {
		t.Errorf("the wait for jobs of which one has failed ends with %v", err)
	}
	t.Setenv("HQ_OUTPUT_MODE", "quiet")
	if got := run("job list --all"); !strings.HasPrefix(got, "1 FINISHED\n2 ") {
		t.Errorf("with a variable for the form the list is %q", got)
	}
	run("server stop")
	if !f.over["bag-2"] {
		t.Errorf("bags stay open: %v", f.over)
	}
	if err := f.command(dir, new(strings.Builder)).Run([]string{"submit", "--cpus=77", "./prog"}); err == nil || len(f.flags) != 4 || !f.over["bag-4"] {
		t.Errorf("of a job that is refused, %v, the bag stays open: %v", err, f.over)
	}
}

// TestNextflow: what Nextflow's executor writes since 25.01 (26.08 writes the same), clusterOptions included, becomes the same task as what it wrote
// before. Where a folder has a blank, that is behind a backslash within quotes. Lines behind the first command are none of options.
func TestNextflow(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, ".command.run")
	of := func(directives string) map[string]any {
		t.Helper()
		if err := os.WriteFile(script, []byte("#!/bin/bash\n"+directives+"NXF_CHDIR=/\n### ---\n#HQ --cpus 77\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := new(Command).parse([]string{"--directives=file", ".command.run"}, dir)
		if err != nil {
			t.Fatalf("%s: %v", directives, err)
		}
		line, err := s.Line()
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	log, rest := filepath.Join(dir, "a b", ".command.log"), "#HQ --cwd '"+dir+"'\n#HQ --resource mem=100\n#HQ --cpus 2\n#HQ --time-limit 60sec\n#HQ --resource gpus=1\n"
	before := of("#HQ --name nf-square_(1)\n#HQ --log '" + log + "'\n" + rest)
	if before["stdout"] != log {
		t.Errorf("the log is %v", before["stdout"])
	}
	if got := of("#HQ --name nf-square_(1)\n#HQ --stream \"" + strings.Replace(log, " ", `\ `, 1) + "\"\n" + rest); !reflect.DeepEqual(got, before) {
		t.Errorf("the task is\n%v, want\n%v", got, before)
	}
	for _, more := range []string{
		"", "#HQ --priority 3\n", "#HQ --priority=3 --pin taskset\n", "#HQ --max-fails 1 --crash-limit=2\n", "#HQ --time-request=1m \n", "#HQ\n",
		"#HQ --cpus '2 compact'\n", "#HQ --resource cpus=2 --time-limit '1 minute'\n", "#HQ --time-limit 60\n", "#HQ --time-limit 0:01:00\n",
	} {
		if got := of("#HQ --name nf-square_(1)\n#HQ --stream '" + log + "'\n" + rest + more); !reflect.DeepEqual(got, before) {
			t.Errorf("with %q the task is\n%v, want\n%v", more, got, before)
		}
	}
}

// TestTold: a script of Nextflow tells its exit status at its end, but not where it was told to end, as its task may be started again. A later attempt
// of one that has told it does nothing. Nextflow is told of a job that was ended once that is known to be over.
func TestTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	script, told := filepath.Join(dir, ".command.run"), filepath.Join(dir, ".exitcode")
	quoted := strings.ReplaceAll(told, " ", `\ `)
	text := "#!/bin/bash\non_exit() { local status=$?; printf -- $status > " + quoted + "\nexit $status; }\ntrap on_exit EXIT\n. ./does\n"
	attempt := func(does, want, tells string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "does"), []byte(does), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := new(Command).parse([]string{"--directives=file", script}, dir)
		if err != nil {
			t.Fatal(err)
		}
		line, err := s.Line()
		if err != nil {
			t.Fatal(err)
		}
		args := line["command"].([]string)
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "BERTH_TASK_DIR="+t.TempDir())
		out, _ := cmd.CombinedOutput()
		if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != want {
			t.Errorf("%q ended with %s, want %s: %s", does, got, want, out)
		}
		if got, _ := os.ReadFile(told); strings.TrimSpace(string(got)) != tells {
			t.Errorf("%q has told %q, want %q: %s", does, got, tells, out)
		}
	}
	tell := func(s State, want string) {
		t.Helper()
		Entry{Told: dir}.tell(s)
		if got, _ := os.ReadFile(told); string(got) != want {
			t.Errorf("of a job that is %s Nextflow is told %q, want %q", s, got, want)
		}
	}
	fresh := func() {
		t.Helper()
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o755), os.WriteFile(script, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	const toldToEnd = "kill $PPID; exit 7"
	fresh()
	attempt(toldToEnd, "7", "")
	tell(Waiting, "")
	attempt("exit 3", "3", "3")
	attempt("exit 4", "3", "3")
	tell(Failed, "3")
	fresh()
	attempt(toldToEnd, "7", "")
	tell(Canceled, "7")
	fresh()
	attempt("kill $PPID; exit 0", "0", "0")
	fresh()
	attempt("kill -9 $$", "137", "137")
	fresh()
	tell(Failed, "143")
}

// TestNodes: a job of several nodes is a task with a rank on each, whose command finds them where it does with HyperQueue.
func TestNodes(t *testing.T) {
	for args, want := range map[string]map[string]any{
		"--nodes 4 ./x":                  {"ranks": 4, "ranks_per_node": 1, "cpus": nil},
		"--nodes=2 --cpus 8 ./x":         {"ranks": 2, "ranks_per_node": 1, "cpus": 8},
		"--resource gpus/nvidia=0.5 ./x": {"gpus": 0.5, "cpus": 1},
		"./x":                            {"ranks": nil, "ranks_per_node": nil, "cpus": 1},
	} {
		s, err := new(Command).parse(strings.Fields(args), "/")
		if err != nil {
			t.Fatal(err)
		}
		line, err := s.Line()
		for key, value := range want {
			if line[key] != value || err != nil {
				t.Errorf("%s: %s is %v, want %v, %v", args, key, line[key], value, err)
			}
		}
		if sh := line["command"].([]string)[2]; strings.Contains(sh, "HQ_NODE_FILE=$BERTH_HOSTFILE") != (want["ranks"] != nil) {
			t.Errorf("%s: the command is %s", args, sh)
		}
	}
}

// TestErrors: what hq has and berth does not is told, with what to use instead.
func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, says := range map[string]string{
		"task list 1":                        "berth status",
		"--output-mode=xml job list":         "cli, quiet or json",
		"job list --al":                      "unknown flag",
		"job wait 7":                         "no such job",
		"job cancel 1:0":                     "no such job",
		"submit -p short ./x":                "berth bag",
		"submit --nodes -2 ./x":              "--nodes",
		"submit":                             "required: a command",
		"submit --directives=file none":      "cannot be read",
		"submit --resource fpga=1 ./x":       `no resource "fpga"`,
		"submit --time-limit soon ./x":       "not a duration",
		"--output-mode=quiet job cancel 7":   "no such job",
		"submit --resource gpus=many ./prog": "NAME=NUMBER",
	} {
		err := (&Command{Dir: ".", Out: &strings.Builder{}}).Run(strings.Fields(args))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("hq %s: %v, want %q", args, err, says)
		}
	}
}

// TestMemory: memory is read in MiB, as HyperQueue and Nextflow count it, and in bytes, as they did before.
func TestMemory(t *testing.T) {
	for value, want := range map[string]int64{"mem=100": 100 << 20, "mem=0.5": 1 << 19, "mem=524288": 512 << 30, "mem=104857600": 100 << 20} {
		if s, err := new(Command).parse([]string{"--resource", value, "./prog"}, "/"); err != nil || s.Mem != want {
			t.Errorf("%s is %d bytes, %v, want %d", value, s.Mem, err, want)
		}
	}
}
