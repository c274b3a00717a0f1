package plan

import "berth/internal/predict"

// memoMost is how many samples a Memo holds at most: twice the bins of the Facebook mix, with
// room. One has up to 2¹⁸ tasks, 4 MB.
const memoMost = 24

// Memo lets plans share samples of runs. They are functions of the profile and of how much
// there is to do, so that a simulator, which plans jobs of a few sizes again and again by
// profiles that stay what they are, draws and places the same ones each time. Plans are the
// same with a Memo and without. The zero value is ready; not for concurrent use.
type Memo struct{ trials map[memoKey]*predict.Trials }

// memoKey is all that a sample of a job that has not begun depends on.
type memoKey struct {
	profile *predict.Profile
	size    predict.Size
	runs    int
	seed    uint64
}

// newTrials returns a sample of so many runs, from the question's Memo where that may have it.
func (a *adaptor) newTrials(runs int) *predict.Trials {
	key := memoKey{a.q.Profile, a.size, runs, seedOf(predict.Application(a.q.Spec))}
	m := a.q.Memo
	if m == nil || a.q.Measured != nil || a.q.Rest != nil {
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
