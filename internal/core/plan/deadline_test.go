package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// deciding decides what to request, for a look at what was compared.
func deciding(t *rapid.T, q *Question) *decision {
	d := &decision{adaptor: newAdaptor(q)}
	if err := d.decide(0); err != nil {
		t.Skip(err.Error())
	}
	return d
}

// TestDeadlineAtLeastCost: where any request that is compared meets the deadline, the chosen one does, at no more cost than any other of them.
// A deadline that the plan of a job without one meets is met.
func TestDeadlineAtLeastCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		free := deciding(t, &q)
		within := time.Duration(rapid.IntRange(1, 20_000).Draw(t, "seconds")) * time.Second
		timed, spec := q, *q.Spec
		spec.Request.Due, timed.Spec = begin.Add(within), &spec
		d := deciding(t, &timed)
		for i := range d.evaluated {
			c := &d.evaluated[i]
			if !d.meets(c) {
				continue
			}
			if !d.meets(&d.first) {
				t.Fatalf("%d nodes after %g s meet the deadline, but %d after %g s are requested, which do not", c.Take, c.Wait, d.first.Take, d.first.Wait)
			}
			if held(c) < held(&d.first)*(1-1e-9) {
				t.Fatalf("%g core-seconds meet the deadline, but %g are requested", held(c), held(&d.first))
			}
		}
		if free.first.offer != nil && free.first.rejected == "" && free.first.likely <= within.Seconds()*(1-closeBy) && len(free.chosen) == 1 && d.spent < maxPlaced/2 && !d.meets(&d.first) {
			t.Fatalf("a job without a deadline would be done after %g s, and with one after %g s: %g s", free.first.likely, d.first.likely, within.Seconds())
		}
	})
}

// TestDeadlinePassed: a job whose deadline has passed is planned as if it had none.
func TestDeadlinePassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := genQuestion(t)
		want := decided(t, q)
		spec := *q.Spec
		spec.Request.Due, q.Spec = begin.Add(-time.Second), &spec
		got := decided(t, q)
		if !slices.EqualFunc(got.Requests(), want.Requests(), func(a, b job.AllocRequest) bool {
			return a.Nodes == b.Nodes && a.Time == b.Time && a.PerNode == b.PerNode
		}) {
			t.Fatalf("%v is requested, and %v without a deadline", got.Requests(), want.Requests())
		}
		if s := got.Deadline.Slack; s != nil && (*s >= 0 || !strings.Contains(got.Decision(), "after the deadline")) {
			t.Fatalf("slack %g: %s", *s, got.Decision())
		}
	})
}
