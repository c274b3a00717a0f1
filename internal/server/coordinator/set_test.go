package coordinator

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// TestSetCutShort: a coordinator dies when it has written the changed spec of a job, and before the terms are on record. The next one records them, and
// the one after it finds them there.
func TestSetCutShort(t *testing.T) {
	opts := options(t)
	first, _ := stopped(t, opts)
	elastic(t, first, begun.Add(time.Hour))
	r := opts.Home.Run("bag-1")
	spec, err := r.Spec()
	if err != nil {
		t.Fatal(err)
	}
	spec.Bag.Need.Mem /= 2
	if err := r.SaveSpec(spec); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		if err := first.journals.Close(); err != nil {
			t.Fatal(err)
		}
		next, _ := stopped(t, opts)
		if err := next.recover(); err != nil {
			t.Fatal(err)
		}
		next.adopt()
		next.round.at = next.now()
		(<-next.posted)()
		set := slices.ContainsFunc(next.round.records, func(r event.Record) bool { _, ok := r.(event.TermsChanged); return ok })
		if terms, ok := next.engine.Terms("bag-1"); !ok || terms != spec.Terms() || set != (round == 0) {
			t.Errorf("after restart %d the terms are %+v, recorded now: %t", round, terms, set)
		}
		next.round.actions, next.round.after = nil, nil
		if err := next.flush(); err != nil {
			t.Fatal(err)
		}
		first = next
	}
}

// TestSetPlace: of a job that gets another priority or weight the record says that nothing else has changed.
func TestSetPlace(t *testing.T) {
	s, _ := stopped(t, options(t))
	elastic(t, s, begun.Add(time.Hour))
	r := s.home.Run("bag-1")
	for i, change := range []func(*job.Spec){
		func(*job.Spec) {},
		func(s *job.Spec) { s.Request.Priority = 3 },
		func(s *job.Spec) { s.Request.Priority, s.Request.Weight = 1, 2 },
		func(s *job.Spec) { s.Request.Priority, s.Request.MaxTime = 2, 2*time.Hour },
		func(s *job.Spec) { s.Bag.Throttle = 3 },
	} {
		l, err := s.load("bag-1")
		if err != nil {
			t.Fatal(err)
		}
		spec, err := r.Spec()
		if err == nil {
			change(spec)
			spec.Normalize()
			err = s.setSpec(l, spec)
		}
		if err != nil {
			t.Fatal(err)
		}
		set := s.round.records[len(s.round.records)-1]
		if set, ok := set.(event.TermsChanged); i > 0 && (!ok || set.PlaceOnly != (i < 3)) {
			t.Errorf("change %d: the record is %+v", i, set)
		}
	}
}

// TestSetOver: the folder of a job that is over is left alone, as a resume may have written what it wants there.
func TestSetOver(t *testing.T) {
	s := running(t, options(t))
	id := bag(t, s, 0)
	if l := s.lookup(id); l != nil {
		_, archived := l.ends()
		<-archived
	}
	l, err := s.load(id)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := l.run.Spec()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(l.run.Dir, "job.json")
	before, _ := os.Stat(file)
	spec.Request.Priority = 7
	if err := s.call(func() error { return s.setSpec(l, spec) }); job.ClassOf(err) != job.User {
		t.Errorf("a job that is over was changed: %v", err)
	}
	if after, _ := os.Stat(file); !os.SameFile(before, after) {
		t.Error("its spec was written")
	}
}
