package memory

import (
	"cmp"
	"math"
	"slices"
)

// The models, by index.
const (
	constant = iota // the median of all samples
	recent          // the median of the latest samples
	line            // the line of least squares over the size of the input
	nearest         // the median of the samples with the nearest sizes, by the logarithm
	models
)

// recently is how many of the latest samples the model recent looks at.
const recently = 16

// predict returns what each model predicts for a task with an input of that size, in bytes, all above 0.
func predict(samples []Sample, size int64) (p [models]float64) {
	p[constant] = median(samples)
	p[recent] = median(samples[max(0, len(samples)-recently):])
	p[line] = onLine(samples, float64(size))
	p[nearest] = median(neighbours(samples, size))
	return p
}

// median returns the upper median of what samples used.
func median(samples []Sample) float64 {
	peaks := make([]int64, len(samples))
	for i, s := range samples {
		peaks[i] = s.Peak
	}
	slices.Sort(peaks)
	return float64(peaks[len(peaks)/2])
}

// onLine returns the value of the line of least squares at that size, from half of the least to twice the most of what
// samples used.
func onLine(samples []Sample, size float64) float64 {
	n := float64(len(samples))
	var meanSize, meanPeak float64
	low, high := math.Inf(1), 0.0
	for _, s := range samples {
		meanSize += float64(s.Size) / n
		meanPeak += float64(s.Peak) / n
		low, high = min(low, float64(s.Peak)), max(high, float64(s.Peak))
	}
	var both, sizes float64
	for _, s := range samples {
		d := float64(s.Size) - meanSize
		both += d * (float64(s.Peak) - meanPeak)
		sizes += d * d
	}
	at := meanPeak
	if sizes > 0 {
		at += both / sizes * (size - meanSize)
	}
	return min(max(at, low/2), high*2)
}

// neighbours returns three to seven samples whose sizes are nearest to that one, by the logarithm.
func neighbours(samples []Sample, size int64) []Sample {
	far := func(s Sample) float64 { return math.Abs(logSize(s.Size) - logSize(size)) }
	near := slices.Clone(samples)
	slices.SortStableFunc(near, func(a, b Sample) int { return cmp.Compare(far(a), far(b)) })
	return near[:min(len(near), max(3, min(7, len(near)/6)))]
}

func logSize(size int64) float64 { return math.Log(float64(max(size, 1))) }
