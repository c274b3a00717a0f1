package rented

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSlowed: the remaining fraction of the throughput falls with the use of the server, and grows with the number of
// machines and with the share of time in which they move data. With transfers of the same length, so that the share grows with the
// use, it falls with the use, too, and the throughput grows.
func TestSlowed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 400).Draw(t, "machines")
		share := rapid.Float64Range(0.001, 1).Draw(t, "share")
		use := rapid.Float64Range(0, min(3, share*float64(k))).Draw(t, "use")
		at := slowed(k, share, use)
		more := k + rapid.IntRange(1, 400).Draw(t, "more")
		if got := slowed(more, share, use); got < at*(1-1e-9) {
			t.Fatalf("%d machines %g, %d machines %g", k, at, more, got)
		}
		part := rapid.Float64Range(0.001, 1).Draw(t, "part")
		if got := slowed(k, share*part, use*part); got < at*(1-1e-9) || part*got > at*(1+1e-9) {
			t.Fatalf("use %g: %g, use %g: %g", use, at, use*part, got)
		}
		if got := slowed(k, rapid.Float64Range(share, 1).Draw(t, "larger"), use); got < at*(1-1e-9) {
			t.Fatalf("share %g", got)
		}
		if got := slowed(k, share, rapid.Float64Range(0, use).Draw(t, "less")); got < at*(1-1e-9) {
			t.Fatalf("use %g", got)
		}
	})
}

// TestAtBest: no set of machines in a range does better than the range says.
func TestAtBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		server := rapid.Float64Range(0.001, 1).Draw(t, "server")
		spread := rapid.Float64Range(0, 1).Draw(t, "spread")
		var s Sum
		for range rapid.IntRange(1, 4).Draw(t, "types") {
			transfer := server * rapid.Float64Range(1, 20).Draw(t, "transfer")
			compute := rapid.Float64Range(0.01, 100).Draw(t, "compute")
			s.Add(rapid.IntRange(1, 100).Draw(t, "count"), 1/(compute+transfer), transfer)
		}
		loose := func(name string) float64 { return rapid.Float64Range(1, 1.5).Draw(t, name) }
		share, use, streams := s.Moving/float64(s.Machines), s.Rate*server, s.Moving/s.Rate/server
		r := Range{Few: rapid.IntRange(1, s.Machines).Draw(t, "few"), Many: s.Machines + rapid.IntRange(0, 100).Draw(t, "many"),
			LeastShare: share / loose("least"), MostShare: min(1, share*loose("most")), LeastUse: use / loose("idle"), MostUse: use * loose("busy"),
			MostStreams: streams * loose("streams")}
		is := s.Contend(server, spread)
		best, served := AtBest(r, spread)
		if best.Slowed < is.Slowed*(1-1e-9) || best.Credit < is.Credit-1e-9 || served < use*is.Slowed*(1-1e-9) {
			t.Fatalf("%+v in %+v: %+v, bound %+v, served %g", s, r, is, best, served)
		}
	})
}
