package engine

import "time"

// expectation is how long an attempt was expected to take when it had run for some time.
type expectation struct{ after, takes time.Duration }

// outlook is what was expected of a running attempt over its time, so that the expectation at half of its time can be told when it is
// done. It is not part of the state of the records.
type outlook struct {
	of    []expectation // with rising times
	every time.Duration // between them, apart from the last
}

// mostExpectations bounds the length of an outlook. One of half as many is less than a sixteenth of the attempt's time from any moment.
const mostExpectations = 32

// add adds an expectation, or replaces the last one if that is closer to the one before it. When there are too many, every second one is removed.
func (o *outlook) add(x expectation) {
	if last := len(o.of) - 1; last >= 1 && o.of[last].after-o.of[last-1].after < o.every {
		o.of[last] = x
		return
	}
	if len(o.of) == mostExpectations {
		for i := range mostExpectations / 2 {
			o.of[i] = o.of[2*i+1]
		}
		o.of = o.of[:mostExpectations/2]
		o.every = x.after / (mostExpectations / 2)
	}
	o.of = append(o.of, x)
}

// atHalf returns how long the attempt was expected to take when half of its time was over, as a fraction of the time that it took; 0: nothing
// was expected in the tenth of its time before that moment or after it.
func (o *outlook) atHalf(took time.Duration) float64 {
	nearest := expectation{}
	for _, x := range o.of {
		if (x.after - took/2).Abs() < (nearest.after - took/2).Abs() {
			nearest = x
		}
	}
	if took <= 0 || (nearest.after-took/2).Abs() > took/10 {
		return 0
	}
	return nearest.takes.Seconds() / took.Seconds()
}
