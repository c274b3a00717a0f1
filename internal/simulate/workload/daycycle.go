package workload

import "math"

const (
	halfHours  = 48
	halfHour   = 30 * 60 * 1000 // ms
	cycleStart = 11             // the half hour of the day, counted from 1, at which the gamma distribution begins
)

// dayCycle converts the time between arrivals into time of day: a time between arrivals is given in
// points, of which a day has as many as milliseconds. Each half hour takes as many points as its
// fraction of the day's arrivals, so that time passes more slowly in busy half hours. The cycle
// begins at midnight.
//
// All values are whole numbers, and the position in the day is its half hour and the points used of
// it. So the cycle never drifts. (The authors' program truncates each time between arrivals to a
// second, and drifts away from its own cycle.)
type dayCycle struct {
	weights [halfHours]int64 // points of each half hour
	bucket  int64            // number of half hours that have passed since the beginning
	paid    int64            // points used in the present half hour
}

// newDayCycle returns the cycle whose half hours are weighted by the gamma distribution with the
// given shape and scale, in half hours. Half hour i, counted from 1, has the weight cdf(i+½) −
// cdf(i−½). The day of the distribution begins at half hour 11, at 5:00, and ends with the 58th,
// which is the 10th of the next day: its mean is near 16:00. (Docs/models.md takes the authors'
// constant 11 for an hour, but in their program it counts half hours.)
func newDayCycle(shape, scale float64) dayCycle {
	var share [halfHours]float64
	sum := 0.0
	for i := cycleStart; i < cycleStart+halfHours; i++ {
		w := gammaBelow(shape, (float64(i)+0.5)/scale) - gammaBelow(shape, (float64(i)-0.5)/scale)
		share[(i-1)%halfHours] = w
		sum += w
	}
	var c dayCycle
	for i, w := range share {
		c.weights[i] = int64(math.Round(w / sum * halfHours * halfHour))
	}
	return c
}

// gammaBelow returns the probability that a gamma-distributed number of that shape, and of scale 1,
// is below x, by its power series (Abramowitz and Stegun, 6.5.29), whose terms are positive.
func gammaBelow(shape, x float64) float64 {
	log, _ := math.Lgamma(shape + 1)
	term := math.Exp(shape*math.Log(x) - x - log)
	sum := 0.0
	for n := shape + 1; sum+term > sum; n++ {
		sum += term
		term *= x / n
	}
	return sum
}

// advance uses points and returns the resulting time, in ms since the beginning.
func (c *dayCycle) advance(points int64) int64 {
	c.paid += points
	weight := c.weights[c.bucket%halfHours]
	for c.paid > weight {
		c.paid -= weight
		c.bucket++
		weight = c.weights[c.bucket%halfHours]
	}
	return c.bucket*halfHour + (c.paid*halfHour+weight/2)/weight
}
