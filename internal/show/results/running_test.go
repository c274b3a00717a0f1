package results

import (
	"bytes"
	"context"
	"testing"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// running is a task that prints more each time it is asked, and then ends.
type running struct {
	attempts []int    // that run, each time they are asked for; 0: none
	printed  []string // by attempt, from 1: what it has printed so far
}

func (r *running) Attempts(context.Context) ([]report.RunningAttempt, error) {
	n := r.attempts[0]
	if r.attempts = r.attempts[1:]; n == 0 {
		return nil, nil
	}
	return []report.RunningAttempt{{Task: 0, Attempt: n}}, nil
}

func (r *running) Printed(_ context.Context, of job.Attempt, _ bool, offset int64) ([]byte, error) {
	text := r.printed[of.N-1][offset:]
	return []byte(text[:min(2, len(text))]), nil
}

// TestTail: what a task prints is printed once, whatever part of it was read before it ended.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		name     string
		attempts []int
		by       int // the attempt that ended the task
		want     string
		notes    int
	}{
		{"it ended before", []int{0}, 1, "begin end", 0},
		{"it prints more at its end", []int{1, 0}, 1, "begin end", 0},
		{"another attempt ends it", []int{1, 2, 0}, 2, "beginbegin end", 1},
		{"one that was not seen ends it", []int{1, 0}, 3, "beginbegin end", 0},
	} {
		b, tasks := bag(t, "begin end")
		p := NewPrinter(&job.Spec{ID: "bag-1", Bag: b}, tasks, Options{})
		var out bytes.Buffer
		p.Out = &out
		r := &running{attempts: c.attempts, printed: []string{"begin", "begin "}}
		notes := 0
		look := func() (bool, error) {
			if len(r.attempts) == 0 {
				p.ended(report.End{Attempt: c.by, Done: true, Over: true})
			}
			return false, nil
		}
		if err := p.Tail(t.Context(), 0, r, look, func(string) { notes++ }); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want || notes != c.notes {
			t.Errorf("%s: %q is printed with %d notes, want %q with %d", c.name, out.String(), notes, c.want, c.notes)
		}
	}
}
