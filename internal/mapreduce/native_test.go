package mapreduce

import (
	"testing"

	"berth/internal/core/job"
)

func TestNative(t *testing.T) {
	spec := &job.MapReduceSpec{}
	native := func(name string) Program {
		p, ok := Native(job.Program{Native: name}, spec, Maps)
		if !ok {
			t.Fatal(name + " is not native")
		}
		return p
	}
	if _, ok := Native(job.Program{Args: []string{"cat"}}, spec, Maps); ok {
		t.Error("a command is taken for native")
	}
	if native("identity") != nil || native("aggregate") == nil {
		t.Error("identity is not told from aggregate")
	}
}
