package workload

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

const (
	halfHours  = 48
	halfHour   = 30 * 60 * 1000 // ms
	cycleStart = 11             // the half hour of the day, from 1, at which the gamma begins
)

// dayCycle is time that passes the faster the fewer jobs come at that time of day: points,
// of which a day has as many as milliseconds, are paid half hour by half hour, and how many
// a half hour takes is its share of the day's arrivals. It begins at midnight.
//
// All is whole numbers, and a place in the day is its half hour and what is paid of that:
// so the cycle stays in phase for ever. (The authors' program truncates each time between
// arrivals to a second, and drifts away from its own cycle.)
type dayCycle struct {
	weights [halfHours]int64 // points of each half hour
	bucket  int64            // half hours since the beginning that are over
	paid    int64            // points of the present one
}

// newDayCycle weighs the half hours of a day by the gamma distribution of that shape and
// scale, in half hours. Half hour i, from 1, is that of cdf(i+½) − cdf(i−½), and the day
// the gamma speaks of runs from half hour 11, at 5:00, to the 58th, which is the 10th of
// the next day: its mean is near 16:00. (models.md of the design takes the authors'
// constant 11 for an hour; in their program it counts half hours.)
func newDayCycle(shape, scale float64) dayCycle {
	var share [halfHours]float64
	sum := 0.0
	for i := cycleStart; i < cycleStart+halfHours; i++ {
		w := mathext.GammaIncReg(shape, (float64(i)+0.5)/scale) - mathext.GammaIncReg(shape, (float64(i)-0.5)/scale)
		share[(i-1)%halfHours] = w
		sum += w
	}
	var c dayCycle
	for i, w := range share {
		c.weights[i] = int64(math.Round(w / sum * halfHours * halfHour))
	}
	return c
}

// advance pays points and returns the time then, in ms since the beginning.
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
