package sample

import (
	"cmp"
	"slices"
)

// Move is a transfer of data between a machine and the data server.
type Move struct {
	Type       int
	Start, End float64 // seconds
	Bytes      float64
}

// Bandwidth is the measured rates of links and of the data server, in bytes/s.
type Bandwidth struct {
	Rates  []float64 // of a machine of each type that uses the server alone, as far as it did; 0: unknown
	Peak   float64   // the highest rate of all transfers together
	Server float64   // the server's capacity: Peak, if machines were slower together than alone; 0: it was not reached
}

// slower is the fraction of a machine's own rate below which it counts as slowed down by others.
const slower = 0.8

// Measure returns the bandwidth from the transfers of machines of that many types.
func Measure(types int, moves []Move) Bandwidth {
	moves = slices.DeleteFunc(slices.Clone(moves), func(m Move) bool { return m.Bytes <= 0 || m.End <= m.Start })
	b := Bandwidth{Rates: make([]float64, types), Peak: peak(moves)}
	shared := make([]float64, types)
	for t := range types {
		alone, together := rate{}, rate{}
		for i, m := range moves {
			switch {
			case m.Type != t:
			case overlaps(moves, i):
				together.add(m)
			default:
				alone.add(m)
			}
		}
		b.Rates[t], shared[t] = alone.mean(), together.mean()
		if b.Rates[t] == 0 {
			b.Rates[t] = shared[t]
		}
	}
	for t := range types {
		if shared[t] > 0 && shared[t] < slower*b.Rates[t] {
			b.Server = b.Peak
		}
	}
	return b
}

// rate is a mean rate.
type rate struct{ bytes, seconds float64 }

func (r *rate) add(m Move) {
	r.bytes += m.Bytes
	r.seconds += m.End - m.Start
}

func (r rate) mean() float64 {
	if r.seconds == 0 {
		return 0
	}
	return r.bytes / r.seconds
}

// overlaps reports whether a machine of another type moves data during this move.
func overlaps(moves []Move, i int) bool {
	m := moves[i]
	return slices.ContainsFunc(moves, func(o Move) bool { return o.Type != m.Type && o.Start < m.End && m.Start < o.End })
}

// peak returns the highest sum of the rates of simultaneous moves.
func peak(moves []Move) (most float64) {
	type change struct{ at, by float64 }
	var all []change
	for _, m := range moves {
		r := m.Bytes / (m.End - m.Start)
		all = append(all, change{m.Start, r}, change{m.End, -r})
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	sum := 0.0
	for _, c := range all {
		sum += c.by
		most = max(most, sum)
	}
	return most
}
