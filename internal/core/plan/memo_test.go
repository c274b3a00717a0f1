package plan

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// TestMemo: whatever was planned before with a Memo, a plan is the same as without, in every word.
func TestMemo(t *testing.T) {
	shared := 0
	rapid.Check(t, func(t *rapid.T) {
		q, memo := genQuestion(t), &Memo{}
		sizes := rapid.SliceOfN(rapid.IntRange(1, 200), 1, 3).Draw(t, "sizes")
		for range rapid.IntRange(2, 6).Draw(t, "plans") {
			q.Snap = genQueue(t)
			q.Counts.Tasks = rapid.SampledFrom(sizes).Draw(t, "size")
			before := len(memo.trials)
			q.Memo = nil
			want, wrong := Decide(q)
			q.Memo = memo
			got, err := Decide(q)
			if !reflect.DeepEqual(got, want) || job.ClassOf(err) != job.ClassOf(wrong) || (err == nil) != (wrong == nil) {
				t.Fatalf("%+v, %v; without %+v, %v", got, err, want, wrong)
			}
			if err == nil && before > 0 && len(memo.trials) == before {
				shared++
			}
		}
	})
	if shared == 0 {
		t.Error("no plan had its samples from the Memo")
	}
}

// TestMemoIsBounded: with many sizes a Memo drops some samples, and it keeps none of a job that was measured or has
// begun.
func TestMemoIsBounded(t *testing.T) {
	for seed := range 10 {
		q := rapid.Custom(genQuestion).Example(seed)
		q.Memo = &Memo{}
		if _, err := Decide(q); err != nil { // the user's bounds leave nothing to plan
			continue
		}
		for q.Counts.Tasks = range 2 * memoMost {
			if _, err := Decide(q); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(q.Memo.trials); n == 0 || n > memoMost {
			t.Fatalf("it holds %d samples", n)
		}
		for what, later := range map[string]Question{"what was measured": {Measured: q.Profile}, "a rest": {Remaining: &job.Remaining{Tasks: 1}}} {
			r := q
			r.Memo, r.Measured, r.Remaining = &Memo{}, later.Measured, later.Remaining
			if _, err := Decide(r); err != nil || len(r.Memo.trials) > 0 {
				t.Fatalf("%s: %d samples are held, %v", what, len(r.Memo.trials), err)
			}
		}
		return
	}
	t.Fatal("no question could be planned")
}
