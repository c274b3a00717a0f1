package job

import (
	"strings"
	"testing"
)

func TestCounterLimits(t *testing.T) {
	m := &MapReduceSpec{Conf: map[string]string{CountersKey: " 7 ", counterNameKey: "5", CounterGroupsKey: "many"}}
	l := m.CounterLimits()
	if want := (CounterLimits{Counters: 7, Groups: 200, GroupName: 128, CounterName: 5}); l != want {
		t.Errorf("limits %+v, want %+v", l, want)
	}
	for _, tt := range [][2]string{{"abcde", "abcde"}, {"abcdef", "abcd"}, {"äöüäö", "äöüäö"}, {"äöüäöü", "äöüä"}, {"a\xff", "a\uFFFD"}} {
		if _, got := l.Names("g", tt[0]); got != tt[1] {
			t.Errorf("%q becomes %q, want %q", tt[0], got, tt[1])
		}
	}
	if group, _ := l.Names(strings.Repeat("g", 129), ""); len(group) != 127 { // Limits.filterName
		t.Errorf("a group's name has %d characters", len(group))
	}
}
