package predict

import (
	"cmp"
	"math"
	"slices"
)

// Ends is how far off the ends of attempts were that were expected when half of their time was over: numbers of attempts by the error in
// percent of the time that the attempt took, rounded away from 0; above 0: it took longer. The errors rise, and they are
// bounded, so that it is small whatever the number of attempts.
type Ends []EndsOff

// EndsOff is a number of attempts that had one error.
type EndsOff struct {
	Percent  int `json:"p"`
	Attempts int `json:"n"`
}

// leastOff is the least error that Ends tells from lesser ones: the attempt was expected to take three times as long. The greatest is 100.
const leastOff = -200

// AddEnd adds an attempt that was expected to take that much of the time that it took (event.AttemptEnded.Expected).
func (c *Collector) AddEnd(expected float64) {
	if expected > 0 {
		c.ends.add(EndsOff{percentOff(expected), 1})
	}
}

// Ends returns the errors of the expected ends so far.
func (c *Collector) Ends() Ends { return c.ends }

func percentOff(expected float64) int {
	off := math.Round(100*(1-expected)*1e6) / 1e6 // without the rounding errors of the fraction
	if off < 0 {
		return int(math.Floor(max(off, leastOff)))
	}
	return int(math.Ceil(off))
}

func (e *Ends) add(x EndsOff) {
	i, found := slices.BinarySearchFunc(*e, x, func(a, b EndsOff) int { return cmp.Compare(a.Percent, b.Percent) })
	if found {
		(*e)[i].Attempts += x.Attempts
		return
	}
	*e = slices.Insert(*e, i, x)
}

// Merge adds the errors of others.
func (e *Ends) Merge(others Ends) {
	for _, x := range others {
		e.add(x)
	}
}

// Attempts returns how many attempts there are.
func (e Ends) Attempts() (n int) {
	for _, x := range e {
		n += x.Attempts
	}
	return n
}

// MedianAbs returns the median of the errors without their signs, as a fraction of the time that attempts took; 0: there are none.
func (e Ends) MedianAbs() float64 {
	all, below := e.Attempts(), 0
	for percent := range 1 + max(-leastOff, 100) {
		if below += e.of(percent); 2*below >= all {
			return float64(percent) / 100
		}
	}
	return 0
}

// Near returns the fraction of attempts whose error was at most that many percent.
func (e Ends) Near(percent int) float64 {
	near := 0
	for k := range percent + 1 {
		near += e.of(k)
	}
	return float64(near) / float64(max(1, e.Attempts()))
}

// of returns how many attempts had an error of that many percent, without its sign.
func (e Ends) of(percent int) (n int) {
	for _, x := range e {
		if max(x.Percent, -x.Percent) == percent {
			n += x.Attempts
		}
	}
	return n
}
