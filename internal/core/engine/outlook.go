package engine

import "time"

// expectation is how long an attempt was expected to take when it had run for some time.
type expectation struct{ after, takes time.Duration }

// outlook is what was expected of a running attempt over its time, so that the expectation at half of its time can be told when it is
// done. It is not part of the state of the records.
type outlook []expectation

// add adds an expectation unless the one before it is nearly as old: so there are few, and one is within a twentieth of the attempt's time from
// any moment but the first.
func (o *outlook) add(x expectation) {
	if last := len(*o) - 1; last < 0 || x.after-(*o)[last].after >= x.after/6 {
		*o = append(*o, x)
	}
}

// atHalf returns how long the attempt was expected to take when half of its time was over, as a fraction of the time that it took; 0: nothing
// was expected in the tenth of its time before that moment or after it.
func (o outlook) atHalf(took time.Duration) float64 {
	nearest := expectation{}
	for _, x := range o {
		if (x.after - took/2).Abs() < (nearest.after - took/2).Abs() {
			nearest = x
		}
	}
	if took <= 0 || (nearest.after-took/2).Abs() > took/10 {
		return 0
	}
	return nearest.takes.Seconds() / took.Seconds()
}
