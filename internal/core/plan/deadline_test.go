package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

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
