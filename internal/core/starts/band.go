package starts

import (
	"math"
	"slices"
	"time"

	"berth/internal/core/timeline"
)

// Band is a range of waits.
type Band struct{ Low, High time.Duration }

// Band returns the range that 80 % of the draws are in.
func (w Waits) Band() Band { return Band{w.Quantile(0.1), w.Quantile(0.9)} }

// Holds reports whether a wait is in the band.
func (b Band) Holds(wait time.Duration) bool { return b.Low <= wait && wait <= b.High }

// Came is a band that was predicted, as the draws gave it, and the wait that came.
type Came struct {
	Band Band
	Wait time.Duration
}

const (
	// lastCame is how many of the last starts calibrate a band, and fewestCame how many it takes to do so.
	lastCame, fewestCame = 200, 20
	// outside is the fraction of starts that may be before a band, and after it.
	outside = 0.1
)

// Calibrated returns the band of waits by the user's own last starts, and by how many; 0: these are too few to change it. A band
// without a wait stays as it is: the nodes are free.
func (p *Past) Calibrated(b Band) (calibrated Band, by int) {
	if len(p.Came) < fewestCame || b.High == 0 || b.High == timeline.Unbounded {
		return b, 0
	}
	return b.Calibrated(p.Came), min(len(p.Came), lastCame)
}

// Calibrated returns the band widened, or narrowed, so that it would have held 80 % of the last starts that are known: a
// tenth of them came before their bands and a tenth after. Source: split conformal prediction of quantiles (Romano,
// Patterson, Candès 2019), each end by itself, on the logarithm of the wait and a minute.
func (b Band) Calibrated(came []Came) Band {
	if len(came) < fewestCame || b.High == timeline.Unbounded {
		return b
	}
	came = came[max(0, len(came)-lastCame):]
	early, late := make([]float64, len(came)), make([]float64, len(came))
	for i, c := range came {
		early[i] = scale(c.Band.Low) - scale(c.Wait)
		late[i] = scale(c.Wait) - scale(c.Band.High)
	}
	low, high := unscale(scale(b.Low)-margin(early)), unscale(scale(b.High)+margin(late))
	return Band{min(low, high), max(low, high)}
}

// margin returns the conformal quantile of scores: the value that a further score exceeds with probability outside.
func margin(scores []float64) float64 {
	slices.Sort(scores)
	k := int(math.Ceil(float64(len(scores)+1) * (1 - outside)))
	return scores[min(k, len(scores))-1]
}

func scale(wait time.Duration) float64 { return math.Log(wait.Minutes() + 1) }

func unscale(x float64) time.Duration {
	return max(0, time.Duration((math.Exp(min(x, 16))-1)*float64(time.Minute)))
}
