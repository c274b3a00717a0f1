package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"berth/internal/core/job"
)

// changed returns the spec of a bag or MapReduce job after a resume with these flags.
func changed(t *testing.T, s *job.Spec, args ...string) error {
	t.Helper()
	fs := pflag.NewFlagSet("resume", pflag.ContinueOnError)
	var o ResumeOptions
	o.Register(fs)
	if err := fs.Parse(args); err != nil {
		return err
	}
	if o.Given() != (len(args) > 0) {
		t.Errorf("%q: given is %v", args, o.Given())
	}
	return o.Change(s, "/here")
}

// asked is a bag that asked for a lot.
func asked() *job.Spec {
	s := job.New(job.Bag, "/d")
	s.Bag.Command, s.Bag.Retries, s.Bag.Throttle = []string{"x"}, 1, 5
	s.Request.Partition, s.Request.BatchArgs, s.Request.MaxTime = "short", []string{"--reservation=gone"}, time.Hour
	s.Request.MinNodes, s.Request.MaxNodes = 4, 8
	s.Normalize()
	return s
}

// TestResumeChanges: flags of resume replace what they name, and leave the rest.
func TestResumeChanges(t *testing.T) {
	s := asked()
	if err := changed(t, s); err != nil || s.Request.BatchArgs[0] != "--reservation=gone" || s.Bag.Retries != 1 || s.Bag.Stdout == "" {
		t.Errorf("no flags: %+v, %v", s, err)
	}
	if err := changed(t, s, "--mem", "2G", "-c", "3", "--retries", "2", "--time-limit", "1h", "--sbatch-arg=--reservation=b", "--sbatch-arg=--mail-type=END",
		"--max-time", "2h", "--max-nodes", "2", "--scratch", "s"); err != nil {
		t.Fatal(err)
	}
	r := s.Request
	if s.Bag.Need != (job.Resources{CPUs: 3, Mem: 2 << 30}) || s.Bag.Retries != 2 || s.Bag.TimeLimit != time.Hour || s.Bag.Throttle != 5 {
		t.Errorf("bag is %+v", s.Bag)
	}
	if strings.Join(r.BatchArgs, " ") != "--reservation=b --mail-type=END" || r.MaxTime != 2*time.Hour || r.MinNodes != 0 || r.MaxNodes != 2 ||
		r.Partition != "short" || r.Scratch != "/here/s" {
		t.Errorf("request is %+v", r)
	}
	if err := changed(t, s, "--ranks", "8", "--ranks-per-node", "4"); err != nil || s.Terms().Gang != (job.Gang{Ranks: 8, RanksPerNode: 4}) {
		t.Errorf("ranks are %+v, %v", s.Bag.Gang, err)
	}
	if err := changed(t, s, "--ranks", "2"); err == nil || !strings.Contains(err.Error(), "ranks-per-node: 4 on each node are more than the 2 ranks of a task") {
		t.Errorf("fewer ranks than on a node: %v", err)
	}
	s.Bag.Gang = job.Gang{}
	if err := changed(t, s, "--sbatch-arg", "none", "-p", "long"); err != nil || len(s.Request.BatchArgs) > 0 || s.Request.Partition != "long" {
		t.Errorf("request is %+v, %v", s.Request, err)
	}
}

// TestResumeCommand: the next command of a bag is read as one that a bag begins with, and those before it are remembered.
func TestResumeCommand(t *testing.T) {
	s := asked()
	for _, tt := range []struct{ word, runs, notes string }{
		{"./fit -n {} | sort", `/bin/sh -c "./fit -n 7 | sort"`, "before: x; since: ./fit -n {} | sort"},
		{"true", `true 7`, "before: x; since: ./fit -n {} | sort|before: ./fit -n {} | sort; since: true {}"},
		{"{}", `/bin/sh -c 7`, "x; since: ./fit -n {} | sort|before: ./fit -n {} | sort; since: true {}|before: true {}; since: {}"},
	} {
		if err := changed(t, s, "--command", tt.word); err != nil {
			t.Fatal(err)
		}
		var argv []string
		for _, w := range s.Bag.Argv(job.Entry{"7"}, 0) {
			if strings.Contains(w, " ") {
				w = `"` + w + `"`
			}
			argv = append(argv, w)
		}
		notes := strings.ReplaceAll(strings.Join(s.Bag.Changes(), "|"), "a resume changed the command when 0 tasks were done; ", "")
		if strings.Join(argv, " ") != tt.runs || !strings.HasSuffix(notes, tt.notes) {
			t.Errorf("%s runs %q, notes %q", tt.word, argv, notes)
		}
	}
}

// TestResumeRefuses: what cannot be taken is told as where jobs are submitted.
func TestResumeRefuses(t *testing.T) {
	mr := job.New(job.MapReduce, "/d")
	mr.MapReduce.Inputs, mr.MapReduce.Output = []string{"/in"}, "/out"
	mr.Normalize()
	stage := asked()
	stage.Stage = &job.Stage{Name: "operation"}
	for _, tt := range []struct {
		spec *job.Spec
		args []string
		want string
	}{
		{asked(), []string{"--mem", "much"}, "--mem: \"much\" is not a size"},
		{asked(), []string{"--retries", "-2"}, "--retries: \"-2\" is not a number in the allowed range"},
		{asked(), []string{"--on", "local"}, "unknown flag"},
		{mr, []string{"--command", "x"}, "only the tasks of a bag have it"},
		{asked(), []string{"--command", ""}, "the value is empty"},
		{asked(), []string{"--command", "a; b"}, "it has no {}"},
		{stage, []string{"--command", "x"}, "each stage of a job in stages has a command of its own"},
		{mr, []string{"--retries", "1"}, "only the tasks of a bag have it"},
	} {
		if err := changed(t, tt.spec, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v", tt.args, err)
		}
	}
}
