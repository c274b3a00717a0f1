package sched

import (
	"math"
	"time"

	"berth/internal/job"
)

// Ageing is how many cores' work a job is forgiven in Shortest while it waits: its rank
// falls by so many core-seconds a second.
const Ageing = 1

const (
	// guess is the time that a task is taken to need where no plan knows better.
	guess = time.Minute
	// planWeight and guessWeight are how many measured tasks a plan's word and a guess
	// stand against. The first that end are the short ones, so one or two measured tasks
	// must not turn the line over.
	planWeight  = enough
	guessWeight = 1
	// enough is how many tasks show what a task takes: the mean of five is within half
	// of their standard deviation of the true one.
	enough = 5
	// farthest bounds the time that is left to a job, so that ranks cannot overflow: 73 years.
	farthest = 1 << 61
)

// Unstarted is what is left to start of one kind of a job's tasks.
type Unstarted struct {
	Tasks int // that are neither done nor failed and have no core yet
	CPUs  int // cores that each of them takes

	Planned time.Duration // mean time of a task by the plan; 0: unknown
	Longest time.Duration // that a task has run without an end; 0: none was cut short
	Done    int64         // tasks that this run has measured …
	Took    float64       // … and the seconds that they took together
}

// mean returns the seconds that one is expected to take: the mean of what was measured
// and of what was known before, the latter counting as some tasks more.
func (u *Unstarted) mean() float64 {
	prior, weight := u.Planned, float64(planWeight)
	if prior <= 0 {
		prior, weight = max(guess, u.Longest), guessWeight
	}
	// The conversion keeps processors from fusing the operations, which round differently.
	return (float64(prior.Seconds()*weight) + u.Took) / (weight + float64(u.Done))
}

// Work returns the core-seconds that are left to begin.
func (u *Unstarted) Work() float64 {
	return float64(u.Tasks) * float64(max(1, u.CPUs)) * u.mean()
}

// Rank returns the place of a job in the order Shortest, the least first: when it would
// be done if Ageing cores had worked on nothing else since its release.
//
// Without ageing that is the shortest remaining processing time first, which no schedule of
// one machine beats in mean flow time (Schrage 1968); on several it is within a factor of
// O(log min(n/m, largest/smallest)) of the best, as good as any that does not know the
// future can be (Leonardi and Raz 1997). A job whose tasks run on any slot of the pool is
// almost a job on one machine as fast as all of them, so work is compared and not time to
// finish: that would be the same work divided by the same slots, but for the last wave, in
// which slots that one job leaves idle serve the next. What runs already is no part of
// it: it needs no slot any more, and of two jobs the one that needs fewer further slots is
// the sooner done. Nothing is killed for the order's sake; jobs overtake between tasks.
//
// With ageing a job's remaining work falls, as far as the order goes, by Ageing core-seconds
// a second. As it does so for all alike, the order of two jobs changes only when what they
// have left does, never by time alone: so a heap of ranks stays one. It follows that a job
// of W core-seconds is overtaken by no job that is released more than W/Ageing seconds after it.
// With one core that is the time which it would take on one core alone: short jobs,
// whose users watch, are hardly made to wait; long ones are, but only by what comes in a time
// that they would have taken without berth. A larger constant brings the order closer to
// FIFO and mean flow times with it.
func Rank(release job.Time, left ...Unstarted) job.Time {
	seconds := 0.0
	for i := range left {
		seconds += left[i].Work()
	}
	return release + job.Time(math.Min(float64(seconds/Ageing)*float64(time.Second), farthest))
}
