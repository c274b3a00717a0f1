package loads

import (
	"slices"
)

// Pace is the progress count of a task as a function of its work, as planted functions count:
// frequently in some parts of the work, rarely in others.
type Pace struct {
	Counts float64 // the total count
	Bends  []Bend  // from (0, 0) to (1, 1)
}

// Bend is a point of a pace: the completed fraction of the work, and the fraction of the counts.
type Bend struct{ Work, Counts float64 }

// At returns the whole number of counts after the given fraction of the work.
func (p *Pace) At(share float64) float64 {
	i, _ := slices.BinarySearchFunc(p.Bends, share, func(b Bend, s float64) int {
		if b.Work < s {
			return -1
		}
		return 1
	})
	switch {
	case i == 0:
		return 0
	case i == len(p.Bends):
		return p.Counts
	}
	a, b := p.Bends[i-1], p.Bends[i]
	return float64(int64(p.Counts * (a.Counts + (b.Counts-a.Counts)*(share-a.Work)/(b.Work-a.Work))))
}
