package leader

import (
	"os"
	"testing"

	"berth/internal/core/job"
)

func same(a, b Choice) bool {
	return a.Order == b.Order && a.Scheduler == b.Scheduler && a.StandIn == b.StandIn && a.StragglerRule == b.StragglerRule && (a.KeepRuns == nil) == (b.KeepRuns == nil) && (a.KeepRuns == nil || *a.KeepRuns == *b.KeepRuns) && (a.Keep == nil) == (b.Keep == nil) && (a.Keep == nil || *a.Keep == *b.Keep)
}

// TestChoice: each choice stands beside those before it until all are forgotten, and no is
// another choice than none.
func TestChoice(t *testing.T) {
	s, yes, no, some, all := open(t), true, false, 7, 0
	for i, step := range []struct{ chosen, want Choice }{
		{Choice{}, Choice{}},
		{Choice{Order: "fifo"}, Choice{Order: "fifo"}},
		{Choice{Keep: &yes}, Choice{Order: "fifo", Keep: &yes}},
		{Choice{Order: "auto", Keep: &no}, Choice{Order: "auto", Keep: &no}},
		{Choice{KeepRuns: &some}, Choice{Order: "auto", Keep: &no, KeepRuns: &some}},
		{Choice{KeepRuns: &all}, Choice{Order: "auto", Keep: &no, KeepRuns: &all}},
		{Choice{Scheduler: "slots"}, Choice{Order: "auto", Scheduler: "slots", Keep: &no, KeepRuns: &all}},
		{Choice{}, Choice{Order: "auto", Scheduler: "slots", Keep: &no, KeepRuns: &all}},
	} {
		if err := s.Choose(step.chosen); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Choice(); err != nil || !same(got, step.want) {
			t.Errorf("step %d: %+v, %v", i, got, err)
		}
	}
	for range 2 { // there need not be any
		if err := s.Forget(); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Choice(); err != nil || !same(got, Choice{}) {
			t.Errorf("forgotten, but there is %+v, %v", got, err)
		}
	}
}

// TestDamagedChoice: one that cannot be read is told, and replaced by the next.
func TestDamagedChoice(t *testing.T) {
	s := open(t)
	if err := os.WriteFile(s.choicePath(), []byte(`{"order": "fi`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Choice(); job.CodeOf(err) != job.CodeIO || !same(got, Choice{}) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := s.Choose(Choice{Order: "fifo"}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Choice(); err != nil || got.Order != "fifo" {
		t.Errorf("%+v, %v", got, err)
	}
}
