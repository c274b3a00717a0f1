package plan

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/core/predict"
)

// genSpells draws how often nodes were slow, with at least one attempt.
func genSpells(t *rapid.T, mostSlow int) (s predict.Spells) {
	for hour := range rapid.IntRange(1, 3).Draw(t, "hours") {
		x := predict.Spell{Host: rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "host"), Hour: hour, Attempts: rapid.IntRange(1, 200).Draw(t, "attempts")}
		x.Slow = min(rapid.IntRange(0, mostSlow).Draw(t, "slow"), x.Attempts)
		s.Merge(predict.Spells{x})
	}
	return s
}

// TestNeverSlow: a history without slow attempts changes nothing of a plan.
func TestNeverSlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		before := decided(t, q)
		prof := *q.Profile
		prof.Slow, q.Profile = genSpells(t, 0), &prof
		if after := decided(t, q); !reflect.DeepEqual(before, after) {
			t.Fatalf("%+v, before %+v", after, before)
		}
	})
}

// TestRoomForSlow: the end of an allocation has room for the longest task by the probability that one of those that are left is slow.
func TestRoomForSlow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		if rapid.Bool().Draw(t, "the rest") {
			q.Remaining = &job.Remaining{Tasks: rapid.IntRange(1, q.Counts.Tasks).Draw(t, "left")}
		}
		a := newAdaptor(&q)
		a.setLoad(0)
		before := a.endMargin()
		prof := *q.Profile
		prof.Slow, q.Profile = genSpells(t, 200), &prof
		a.setLoad(0)
		if got, want := a.endMargin(), before*(2-prof.Slow.None(a.load.Maps)); before <= 0 || math.Abs(got-want) > 1e-9*want || got > 2*before {
			t.Fatalf("%v s, want %v; without slow nodes %v", got, want, before)
		}
	})
}

// TestSlowIsTold: the plan says how many tasks may be slow, and what becomes of them only where that may be.
func TestSlowIsTold(t *testing.T) {
	for _, c := range []struct {
		slow int
		bag  job.BagSpec
		then job.Stragglers
		want string
	}{
		{0, job.BagSpec{DuplicatesOK: true}, "", ""},
		{1, job.BagSpec{DuplicatesOK: true}, "", "1 % of attempts on such nodes were slow lately: about 1 of 80 tasks may be slow and get duplicates; none is slow with a probability of 0.45"},
		{10, job.BagSpec{}, "", "about 8 of 80 tasks may be slow; none"},
		{10, job.BagSpec{DuplicatesOK: true}, job.StragglersTell, "about 8 of 80 tasks may be slow; none"},
		{10, job.BagSpec{}, job.StragglersAbort, "about 8 of 80 tasks may be slow and start again; none"},
	} {
		q := Question{Now: begin, Counts: Counts{Tasks: 80}}
		q.Snap = cluster.Snapshot{Driver: "local", Nodes: []cluster.Node{{Name: "n1", Capacity: job.Resources{CPUs: 4, Mem: 8 << 30}, Free: job.Resources{CPUs: 4, Mem: 8 << 30}}}}
		c.bag.Command, c.bag.Need = []string{"/opt/sim"}, job.Resources{CPUs: 1}
		q.Spec = &job.Spec{ID: "x-1", Name: "x", Kind: job.Bag, Bag: &c.bag, Request: job.Request{Stragglers: c.then, IdleTimeout: time.Minute}}
		q.Profile = profileOf(q.Spec, 10)
		q.Profile.Slow = predict.Spells{{Host: "n1", Attempts: 100, Slow: c.slow}}
		p, err := Decide(q)
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(p.Reasons, "\n"); !strings.Contains(all, c.want) || c.want == "" && strings.Contains(all, "slow") {
			t.Errorf("%+v: %q", c, all)
		}
	}
}
