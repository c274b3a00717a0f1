package sample

import (
	"maps"
	"math"
	"slices"
)

// Run is a task that was tried on a type.
type Run struct {
	Task, Type int
	Seconds    float64 // of computing
}

// Estimate is the estimated time of a task on a type.
type Estimate struct {
	Mean    float64 // seconds; 0: unknown
	Low, Up float64 // confidence interval of the mean
	Spread  float64 // standard deviation of task times divided by their mean
	Tried   int     // tasks that ran on the type
	Carried int     // tasks that ran on other types, whose times were converted
}

// Estimates returns the estimate for each of that many types. Of a task that ran twice on a type the first run
// counts.
func Estimates(types int, runs []Run) []Estimate {
	times := make([]map[int]float64, types)
	for t := range times {
		times[t] = make(map[int]float64)
	}
	for _, r := range runs {
		if _, again := times[r.Type][r.Task]; !again && r.Seconds > 0 {
			times[r.Type][r.Task] = r.Seconds
		}
	}
	all := make([]Estimate, types)
	for t := range all {
		all[t] = estimate(t, times)
	}
	return all
}

// carried is the tasks of one type whose times were converted to another, with the error of that.
type carried struct {
	sum      float64 // of their times on their own type
	count    int
	variance float64 // of the ratio of times between the types
	residual float64 // variance of a single time around the regression line
	pairs    int
}

// estimate returns the estimate for type t.
func estimate(t int, times []map[int]float64) (e Estimate) {
	var values []float64
	for _, task := range sorted(times[t]) {
		values = append(values, times[t][task])
	}
	e.Tried = len(values)
	known, freedom, scatter, doubt := times[t], max(1, len(values)-1), 0.0, 0.0
	for u := range times {
		if u == t {
			continue
		}
		factor, c := regress(times[u], times[t])
		if c.pairs < 2 {
			continue
		}
		for _, task := range sorted(times[u]) {
			if _, own := known[task]; !own {
				values = append(values, factor*times[u][task])
				c.sum += times[u][task]
				c.count++
			}
		}
		e.Carried += c.count
		scatter += float64(c.count) * c.residual
		doubt += c.sum * c.sum * c.variance
		if c.count > 0 {
			freedom = min(freedom, c.pairs-1)
		}
	}
	n := float64(len(values))
	if n == 0 {
		return e
	}
	mean, variance := moments(values)
	variance += scatter / n
	e.Mean, e.Spread = mean, math.Sqrt(variance)/mean
	half := StudentsT(freedom) * math.Sqrt(variance/n+doubt/(n*n))
	e.Low, e.Up = max(0, mean-half), mean+half
	return e
}

// regress fits y = factor·x by least squares to the tasks that ran on both types. The line goes through the origin,
// because a handful of pairs does not support a second parameter, and tasks without work take no time on either type.
func regress(x, y map[int]float64) (factor float64, c carried) {
	var xx, xy float64
	for _, task := range sorted(x) {
		if b, both := y[task]; both {
			xx += x[task] * x[task]
			xy += x[task] * b
			c.pairs++
		}
	}
	if c.pairs < 2 {
		return 0, c
	}
	factor = xy / xx
	for _, task := range sorted(x) {
		if b, both := y[task]; both {
			c.residual += (b - factor*x[task]) * (b - factor*x[task]) / float64(c.pairs-1)
		}
	}
	c.variance = c.residual / xx
	return factor, c
}

// moments returns mean and variance of values.
func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / max(1, float64(len(values)-1))
	}
	return mean, variance
}

func sorted(times map[int]float64) []int {
	return slices.Sorted(maps.Keys(times))
}
