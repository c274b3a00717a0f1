package hqhome

import (
	"errors"
	"fmt"
	"os"
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
	run("job cancel 3")
	run("job cancel 1,2")
	if want := []string{"bag-1 [3]", "bag-1 [2]"}; !reflect.DeepEqual(f.ended, want) {
		t.Errorf("%q were cancelled, want %q", f.ended, want)
	}
	f.over["bag-1"] = true
	if got := run("--output-mode=quiet job list --all"); got != "1 FINISHED\n2 CANCELED\n3 CANCELED\n" {
		t.Errorf("at the end the list is %q", got)
	}
	run("submit ./prog")
	if run("--output-mode=quiet submit --directives=file run") != "5\n" || len(f.flags) != 2 {
		t.Errorf("after the end of a bag the bags are %q", f.flags)
	}
	run("server stop")
	if !f.over["bag-2"] {
		t.Errorf("bags stay open: %v", f.over)
	}
}

// TestNextflow: what Nextflow's executor writes since 25.01, clusterOptions included, becomes the same task as what it wrote before.
func TestNextflow(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, ".command.run")
	of := func(directives string) map[string]any {
		t.Helper()
		if err := os.WriteFile(script, []byte("#!/bin/bash\n"+directives+"echo\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ParseSubmit([]string{"--directives=file", ".command.run"}, dir)
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
	for _, more := range []string{"", "#HQ --priority 3\n", "#HQ --priority=3 --pin taskset\n", "#HQ --max-fails 1 --crash-limit=2\n", "#HQ --time-request=1m \n", "#HQ\n"} {
		if got := of("#HQ --name nf-square_(1)\n#HQ --stream '" + log + "'\n" + rest + more); !reflect.DeepEqual(got, before) {
			t.Errorf("with %q the task is\n%v, want\n%v", more, got, before)
		}
	}
}

// TestErrors: what hq has and berth does not is told, with what to use instead.
func TestErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for args, says := range map[string]string{
		"task list 1":                        "berth status",
		"submit --nodes 2 ./x":               "--nodes",
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
		if s, err := ParseSubmit([]string{"--resource", value, "./prog"}, "/"); err != nil || s.Mem != want {
			t.Errorf("%s is %d bytes, %v, want %d", value, s.Mem, err, want)
		}
	}
}
