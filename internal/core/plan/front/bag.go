package front

import (
	"math"

	"berth/internal/core/predict/rented"
)

// Bag is the work to be done, and which parts of the prediction count.
type Bag struct {
	Tasks    int     // at least 1
	Bytes    float64 // moved to and from the data server, a task
	Server   float64 // bytes/s that the data server serves together; 0: no limit
	Spread   float64 // standard deviation of task times divided by their mean
	Transfer float64 // price of moving a byte
	Tail     bool    // count the time in which machines have no further task; false: N/X, the paper's formula
	Boot     bool    // count the time until machines are ready
}

// Type is a type of machine that can be rented, or that is available at a price of 0.
type Type struct {
	Name    string
	Price   float64 // of a machine for an hour
	Unit    float64 // seconds: each started unit is paid
	Minimum float64 // seconds that are paid at least
	Boot    float64 // seconds from the request until the machine takes its first task
	Task    float64 // seconds that a task computes
	Rate    float64 // bytes/s of the machine's own link; 0: no limit
	Slots   int     // tasks at once, at least 1
	Limit   int     // machines at most

	// Interruptions is how often per hour the provider takes a machine back (spot). Its task is lost then, and another
	// machine has to boot. Data that is moved again is not counted as use of the data server.
	Interruptions float64

	// Busy means that the machine computes already: its slots begin no task at once.
	Busy bool
}

// hour is the number of seconds that a price covers.
const hour = 3600

// Bill returns what one machine costs that is rented for so many seconds.
func (t *Type) Bill(seconds float64) float64 {
	units := math.Ceil(max(seconds, t.Minimum)/t.Unit - 1e-9)
	return t.Price * units * t.Unit / hour
}

// kind is a type with the values that follow from the bag, for a whole machine with all its slots.
type kind struct {
	Type
	rate     float64   // tasks/s without contention at the server, interruptions counted
	transfer float64   // seconds that moving a task's data takes, without contention at the server
	credit   float64   // tasks begun beyond rate·time, see rented.Credit; 0 where the tail does not count
	boot     float64   // seconds; 0 where it does not count
	logs     []float64 // of residual times, see rented.Grid
}

// newKind returns the rate at which a machine of the type computes the bag's tasks, and what depends on it. Slots of
// a machine share its link; they are a network of their own.
func (b *Bag) newKind(t Type) kind {
	k := kind{Type: t}
	k.Slots = max(1, k.Slots)
	own := b.serverTime()
	if t.Rate > 0 {
		own = max(own, b.Bytes/t.Rate)
	}
	alone := rented.Network{Machines: k.Slots, Compute: t.Task, Transfer: own, Server: own}.Solve()
	k.transfer = max(own, float64(k.Slots)/alone.Throughput-t.Task)
	if own == 0 {
		k.transfer = 0
	}
	k.rate = float64(k.Slots) / interrupted(t.Task+k.transfer, t.Boot, t.Interruptions/hour)
	if b.Tail && !t.Busy {
		k.credit = float64(k.Slots) * rented.Credit(b.Spread)
	}
	if b.Boot {
		k.boot = t.Boot
	}
	return k
}

// interrupted returns the mean time of a task that begins again after each interruption and a boot. Interruptions are
// a Poisson process with the given rate (per second), so the mean is (e^(rate·task) − 1)·(1/rate + boot).
func interrupted(task, boot, rate float64) float64 {
	if rate <= 0 {
		return task
	}
	return math.Expm1(rate*task) * (1/rate + boot)
}

// serverTime returns the seconds that the server needs for a task's data at full capacity.
func (b *Bag) serverTime() float64 {
	if b.Server <= 0 {
		return 0
	}
	return b.Bytes / b.Server
}
