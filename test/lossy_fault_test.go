package test

import (
	"math/rand/v2"
	"testing"
	"time"

	"berth/test/support/fleet"
)

// lossy is a machine with a slow link that loses packets in both directions.
var lossy = fleet.Machine{Rate: 1 << 20, LoseFrom: 5, LoseTo: 5}

// TestFaultFleetLossy is TestFaultFar and TestFaultFarMapReduce on links that are slow and lose packets. At random moments nothing passes
// from a machine, to it, or both, for a random time: often longer than a lease, and at times until the coordinator gives the machine up.
// Half the time a process is killed meanwhile.
func TestFaultFleetLossy(t *testing.T) {
	t.Parallel()
	fleet.NeedsLoss(t)
	t.Run("bag", func(t *testing.T) {
		t.Parallel()
		w, f := newFar(t, fleet.Names(lossy, "m1", "m2")...)
		w.cutLinks(f)
		farBagRound(t, w, 1)
	})
	t.Run("mapreduce", func(t *testing.T) {
		t.Parallel()
		w, f := newFarFleet(t, lossy)
		w.cutLinks(f)
		farMapReduceRound(t, w, 1)
	})
}

// cutLinks makes faultRound cut a link of a fleet for a random time.
func (w *world) cutLinks(f *fleet.Fleet) {
	lost := map[string][2]int{"link": {100, 100}, "link from": {100, lossy.LoseTo}, "link to": {lossy.LoseFrom, 100}}
	w.victims = []string{"link", "link from", "link to"}
	w.strike = func(victim string, rng *rand.Rand) {
		h := f.Host([]string{"m1", "m2"}[rng.IntN(2)])
		w.ok(h.Lose(lost[victim][0], lost[victim][1]))
		if rng.IntN(2) == 0 {
			w.kill(victims[rng.IntN(len(victims))], rng)
		}
		time.Sleep(time.Duration(rng.ExpFloat64() * float64(20*time.Second))) // the time without a network
		w.ok(h.Lose(lossy.LoseFrom, lossy.LoseTo))
	}
}
