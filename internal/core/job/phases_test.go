package job

import (
	"fmt"
	"testing"
)

// TestPhases: each kind of task has one main phase, and its phases follow each other by rank.
func TestPhases(t *testing.T) {
	kinds, before := map[TaskKind]int{}, BagTask
	for p := PhaseNone + 1; p < NumPhases; p++ {
		if begin, in := p.Words(); begin == "" || in == "" || PhaseNamed(p.String()) != p {
			t.Errorf("the row of %v is incomplete", p)
		}
		if p.Kind() < before {
			t.Errorf("%v is of kind %v, and the one before of kind %v", p, p.Kind(), before)
		}
		before = p.Kind()
		if p.Main() {
			kinds[p.Kind()]++
		}
	}
	if fmt.Sprint(kinds) != "map[task:1 map:1 reduce:1]" {
		t.Errorf("main phases: %v", kinds)
	}
	for k, last := range map[TaskKind]Phase{BagTask: PhaseStore, MapTask: PhaseMerge, ReduceTask: PhaseReduce} {
		if k.Last() != last {
			t.Errorf("the last phase of a %v is %v", k, k.Last())
		}
	}
}

// TestPhaseAsRecorded: phases are recorded by their names, and read by name or by the number that older versions wrote.
func TestPhaseAsRecorded(t *testing.T) {
	old := []string{"none", "fetch", "compute", "store", "map", "merge", "shuffle", "sort", "reduce"}
	for n, name := range old {
		var p, again Phase
		if err := p.UnmarshalMsgpack([]byte{byte(n)}); err != nil || p.String() != name {
			t.Errorf("number %d is read as %v, %v, and was %s", n, p, err, name)
		}
		b, err := p.MarshalMsgpack()
		if err != nil || string(b[1:]) != name {
			t.Errorf("%v is written as %q, %v", p, b, err)
		}
		if err := again.UnmarshalMsgpack(b); err != nil || again != p {
			t.Errorf("%q is read as %v, %v", b, again, err)
		}
	}
	for _, wrong := range []string{"", "\x09", "\xa5later", "\xa0", "\xc0", "\xa7unknown"} {
		p := PhaseMap
		if err := p.UnmarshalMsgpack([]byte(wrong)); err == nil {
			t.Errorf("%q is read as %v", wrong, p)
		}
	}
}
