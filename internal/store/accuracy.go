package store

import (
	"context"
	"slices"
)

// Accuracy says how well runs that were done kept to what was predicted for them.
type Accuracy struct {
	Runs   int `json:"runs"`   // done, with a prediction
	Below  int `json:"below"`  // ended before the lower bound
	Within int `json:"within"` // ended between the bounds
	Above  int `json:"above"`  // ended after the upper bound

	// MedianRatio and WorstRatio are actual over upper bound: the request for time
	// that a prediction leads to holds while they are at most 1.
	MedianRatio float64 `json:"median_ratio"`
	WorstRatio  float64 `json:"worst_ratio"`
}

// Accuracy compares predicted and actual times of an application's runs, of all
// runs if app is empty.
func (s *Store) Accuracy(ctx context.Context, app string) (Accuracy, error) {
	if s == nil {
		return Accuracy{}, nil
	}
	runs, err := s.selectRuns(ctx, `WHERE state = 'done' AND up_s > 0 AND (app = ?1 OR ?1 = '')`, app)
	if err != nil {
		return Accuracy{}, s.wrap("cannot read the history of runs", err)
	}
	return accuracyOf(runs), nil
}

func accuracyOf(runs []Run) Accuracy {
	a := Accuracy{Runs: len(runs)}
	var ratios []float64
	for _, r := range runs {
		switch {
		case r.Actual < r.Predicted.Low:
			a.Below++
		case r.Actual > r.Predicted.Up:
			a.Above++
		default:
			a.Within++
		}
		ratios = append(ratios, r.Actual/r.Predicted.Up)
	}
	if len(ratios) > 0 {
		slices.Sort(ratios)
		a.MedianRatio = (ratios[(len(ratios)-1)/2] + ratios[len(ratios)/2]) / 2
		a.WorstRatio = ratios[len(ratios)-1]
	}
	return a
}
