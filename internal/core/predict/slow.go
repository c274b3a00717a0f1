package predict

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"berth/internal/core/job"
)

// Times counts the attempts of a run by their duration, the host and the hour of the day, to tell in the end which of them were slow. Its size does not
// grow with the number of attempts. The zero value is empty.
type Times map[timed]int

type timed struct {
	spell Spell // of its host and hour
	kind  job.TaskKind
	step  int // of the duration, by factors of 2^⅛
}

// endedSlow is the step of an attempt that was ended as too slow, or because a duplicate was first.
const endedSlow = math.MaxInt

// Add adds an attempt that ended in that hour of the day. An infinite duration is that of one that was ended as too slow.
func (t *Times) Add(host string, hour int, kind job.TaskKind, seconds float64) {
	at := timed{Spell{Host: host, Hour: hour}, kind, endedSlow}
	if !math.IsInf(seconds, 1) {
		at.step = int(math.Floor(8 * math.Log2(max(seconds, 1e-3))))
	}
	if *t == nil {
		*t = Times{}
	}
	(*t)[at]++
}

// slowBy is the least factor between the duration of a slow attempt and the median of its kind, as a number of steps: 1.5.
const slowBy = 5

// shortest is the median, as a step, below which attempts do not tell how fast a node is: a second.
const shortest = 0

// Spells returns how many attempts were slow, by host and hour. An attempt is slow that was ended as such, or took more than 1.5 times the median
// of its kind in the run and is an outlier in logarithms: more than 1.5 times the distance of the quartiles above the upper one (Tukey's fence). So
// tasks that differ in their work are not called slow. Kinds with fewer than ten attempts, or whose median is below a second, do not count.
func (t Times) Spells() (s Spells) {
	rest := slices.SortedFunc(maps.Keys(t), func(a, b timed) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.step, b.step), cmp.Compare(a.spell.Host, b.spell.Host), a.spell.Hour-b.spell.Hour)
	})
	for len(rest) > 0 {
		k := slices.IndexFunc(rest, func(x timed) bool { return x.kind != rest[0].kind })
		if k < 0 {
			k = len(rest)
		}
		of := rest[:k]
		rest = rest[k:]
		bound, ok := t.fence(of)
		for _, at := range of {
			x := Spell{Host: at.spell.Host, Hour: at.spell.Hour, Attempts: t[at]}
			if at.step > bound {
				x.Slow = x.Attempts
			}
			if ok {
				s.add(x)
			}
		}
	}
	return s
}

// fence returns the step above which attempts of a kind are slow, given those that there are in ascending order; ok is false if that cannot be told.
func (t Times) fence(of []timed) (bound int, ok bool) {
	all := 0
	for _, at := range of {
		if at.step != endedSlow {
			all += t[at]
		}
	}
	quartile := func(k int) int {
		left := all * k / 4
		for _, at := range of {
			if left -= t[at]; left < 0 {
				return at.step
			}
		}
		return endedSlow
	}
	low, median, up := quartile(1), quartile(2), quartile(3)
	return max(median+slowBy, up+(up-low)*3/2), all >= 10 && median >= shortest
}

// Spell is how many attempts ended on a host in an hour of the day, and how many of them were slow.
type Spell struct {
	Host     string `json:"host,omitempty"` // name of a node in `hosts`
	Hour     int    `json:"hour"`           // hour of the day in `hours`, local time; else 0
	Attempts int    `json:"attempts"`       // attempts that were compared with others
	Slow     int    `json:"slow"`           // those that were slow
}

// Share returns the fraction of attempts that were slow.
func (s Spell) Share() float64 { return ratio(float64(s.Slow), float64(s.Attempts)) }

// Spells are in the order of hosts and hours, each once.
type Spells []Spell

func (s *Spells) add(x Spell) {
	i, found := slices.BinarySearchFunc(*s, x, func(a, b Spell) int { return cmp.Or(cmp.Compare(a.Host, b.Host), a.Hour-b.Hour) })
	if !found {
		*s = slices.Insert(*s, i, Spell{Host: x.Host, Hour: x.Hour})
	}
	(*s)[i].Attempts += x.Attempts
	(*s)[i].Slow += x.Slow
}

// Merge adds others.
func (s *Spells) Merge(others Spells) {
	for _, x := range others {
		s.add(x)
	}
}

// By sums up the spells by what key leaves of their host and hour.
func (s Spells) By(key func(*Spell)) (sums Spells) {
	for _, x := range s {
		key(&x)
		sums.add(x)
	}
	return sums
}

// All sums up the spells.
func (s Spells) All() (sum Spell) {
	for _, x := range s.By(func(x *Spell) { x.Host, x.Hour = "", 0 }) {
		sum = x
	}
	return sum
}

// usual is the number of attempts with which the mean of all hosts counts for the share of one: those that ran little say little.
const usual = 20

// None returns the probability that none of so many tasks is slow if they are spread over the hosts as the attempts were (paper no2-outliers,
// section 7.1.1: P = ∏ pᵢ).
func (s Spells) None(tasks int) float64 {
	all, sum := s.All(), 0.0
	for _, x := range s.By(func(x *Spell) { x.Hour = 0 }) {
		p := (float64(x.Slow) + usual*all.Share()) / float64(x.Attempts+usual)
		sum += float64(tasks*x.Attempts) / float64(all.Attempts) * math.Log1p(-p)
	}
	return math.Exp(sum)
}

// Slowness says how often nodes were slow.
type Slowness struct {
	Spell `json:"all"`
	Hours Spells     `json:"hours"` // by hour of the day
	Hosts Spells     `json:"hosts"` // by node, the slowest first
	None  []SlowNone `json:"none"`  // how likely a job meets no slow node
}

// SlowNone is the probability that a job with so many tasks meets no slow node.
type SlowNone struct {
	Tasks       int     `json:"tasks"` // number of its tasks
	Probability float64 `json:"probability"`
}

// Slowness sums up the spells for people.
func (s Spells) Slowness() Slowness {
	v := Slowness{Spell: s.All(), Hours: append(Spells{}, s.By(func(x *Spell) { x.Host = "" })...), Hosts: append(Spells{}, s.By(func(x *Spell) { x.Hour = 0 })...), None: []SlowNone{}}
	slices.SortStableFunc(v.Hosts, func(a, b Spell) int { return cmp.Compare(b.Share(), a.Share()) })
	for _, n := range [...]int{10, 100, 1000} {
		v.None = append(v.None, SlowNone{n, s.None(n)})
	}
	return v
}
