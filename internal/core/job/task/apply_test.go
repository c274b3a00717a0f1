package task

import (
	"reflect"
	"testing"
	"time"

	"berth/internal/core/job"
)

func bag() *job.Spec {
	return &job.Spec{ID: "bag-1", Dir: "/work", Bag: &job.BagSpec{Command: []string{"gzip {}"}, Shell: true, ShellProgram: "/bin/bash", ShellNamed: true,
		Need: job.Resources{CPUs: 1}, Retries: 2, Stdout: "/work/{job}/{task}.stdout", Stderr: "/work/{job}/{task}.stderr", Collect: true,
		Env: []string{"PWD=/work", "A=1", "B=2"}}}
}

// TestApplyCommand: a task's own command runs as it is written, with the bag's shell if it is for the shell.
func TestApplyCommand(t *testing.T) {
	for _, c := range []struct {
		line string
		argv []string
	}{
		{`{"command":["echo","{} {#}","a b"]}`, []string{"echo", "{} {#}", "a b"}},
		{`{"command":"echo {} | wc"}`, []string{"/bin/bash", "-c", "echo {} | wc"}},
		{`{"entry":"x"}`, []string{"/bin/bash", "-c", "gzip x"}},
	} {
		tasks, err := Parse("-", Lines([]byte(c.line)))
		if err != nil {
			t.Fatal(err)
		}
		spec, entry := tasks[0].Apply(bag())
		if argv := spec.Bag.Argv(entry, 4); !reflect.DeepEqual(argv, c.argv) {
			t.Errorf("%s: %q, want %q", c.line, argv, c.argv)
		}
	}
	plain := bag()
	plain.Bag.Command, plain.Bag.Shell, plain.Bag.ShellProgram, plain.Bag.ShellNamed = []string{"gzip", "{}"}, false, "", false
	s := Spec{Command: []string{"a | b"}, Shell: true}
	spec, entry := s.Apply(plain)
	if argv := spec.Bag.Argv(entry, 0); !reflect.DeepEqual(argv, []string{"/bin/sh", "-c", "a | b"}) {
		t.Errorf("in a bag without a shell: %q", argv)
	}
}

// TestApplyValues: the task's values replace those of the bag, whose spec is not changed.
func TestApplyValues(t *testing.T) {
	of := bag()
	s := Spec{Dir: "sub", Env: []string{"B=3"}, Stdout: "out", Stderr: job.Discard, Outputs: []string{"*.txt"},
		Needs: job.Needs{CPUs: 4, Mem: 1 << 30, TimeLimit: time.Hour, Attempts: 1}}
	got, _ := s.Apply(of)
	b := got.Bag
	want := job.BagSpec{Command: of.Bag.Command, Shell: true, ShellProgram: "/bin/bash", ShellNamed: true, Need: job.Resources{CPUs: 4, Mem: 1 << 30},
		TimeLimit: time.Hour, Stdout: "/work/sub/out", Stderr: job.Discard, Outputs: []string{"*.txt"},
		Env: []string{"A=1", "PWD=/work/sub", "B=3"}, EnvSaid: []string{"B=3"}}
	if !reflect.DeepEqual(*b, want) || got.Dir != "/work/sub" {
		t.Errorf("in %s:\n got %+v\nwant %+v", got.Dir, *b, want)
	}
	if !reflect.DeepEqual(of, bag()) {
		t.Errorf("the bag's spec was changed: %+v", of.Bag)
	}
	same, _ := (&Spec{}).Apply(of)
	if !reflect.DeepEqual(same, of) {
		t.Errorf("a task without values of its own: %+v", same.Bag)
	}
}
