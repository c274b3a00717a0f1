package plan

import "berth/internal/core/predict"

// memoMost is the largest number of samples in a Memo: twice the bins of the Facebook mix, with room. A sample has up
// to 2¹⁸ tasks, 4 MB.
const memoMost = 24

// Memo caches samples of runs for several plans. A sample is a function of the profile and the tasks that are not
// done, so a simulator, which plans jobs of a few sizes again and again by unchanged profiles, would draw and place
// the same ones each time. Plans are the same with a Memo and without. The zero value is ready to use. A Memo is not
// safe for concurrent use.
type Memo struct{ trials map[memoKey]*predict.Trials }

// memoKey is everything that a sample of a job depends on which has not begun.
type memoKey struct {
	profile *predict.Profile
	size    predict.Size
	runs    int
	seed    uint64
}

// newTrials returns a sample of that many runs, from the question's Memo where the sample depends on nothing else.
func (a *adaptor) newTrials(runs int) *predict.Trials {
	key := memoKey{a.q.Profile, a.size, runs, seedOf(predict.Application(a.q.Spec))}
	m := a.q.Memo
	if m == nil || a.q.Measured != nil || a.q.Remaining != nil || a.q.mix != nil {
		return predict.NewTrials(a.known.inv, a.load, a.known.runs, runs, key.seed)
	}
	t := m.trials[key]
	if t == nil {
		if m.trials == nil || len(m.trials) == memoMost {
			m.trials = make(map[memoKey]*predict.Trials)
		}
		t = predict.NewTrials(a.known.inv, a.load, a.known.runs, runs, key.seed)
		m.trials[key] = t
	}
	return t
}
