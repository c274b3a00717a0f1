package sched

import (
	"math"
	"time"

	"berth/internal/job"
)

// AgeingShare is the share of a pool's cores whose work a job is forgiven in Shortest while
// it waits: for each second that it has waited as many core-seconds of what is left of it do not
// count. It is one core's work at least.
const AgeingShare = 1.0 / 32

const (
	// guess is the time that a task is taken to need where no plan knows better.
	guess = time.Minute
	// planWeight and guessWeight are how many measured tasks a plan's word and a guess
	// stand against. The first that end are the short ones, so one or two measured tasks
	// must not turn the line over.
	planWeight  = enough
	guessWeight = 1
	// farthest bounds the time that is left to a job, so that ranks cannot overflow: 73 years.
	farthest = 1 << 61
)

// Unstarted is what is left to start of one kind of a job's tasks.
type Unstarted struct {
	Tasks int // that are neither done nor failed and have no core yet
	CPUs  int // cores that each of them takes
	Times
}

// Work returns the core-seconds that are left to begin.
func (u *Unstarted) Work() float64 {
	return float64(u.Tasks) * float64(max(1, u.CPUs)) * u.mean()
}

// Ageing returns how many cores' work a job is forgiven while it waits for a pool of so many
// cores.
func Ageing(cores int, share float64) float64 { return max(1, float64(cores)*share) }

// PoolScale returns the number of cores that a pool of so many is taken to have for Ageing: a
// power of two. was is the one before. It stays the same while the number of cores is at
// least half of it and less than twice as much, so that all jobs are ranked anew only when
// the pool has doubled or halved, and not each time when an allocation comes or goes.
func PoolScale(was, cores int) int {
	scale := max(1, was)
	for cores >= 2*scale {
		scale *= 2
	}
	for scale > 1 && cores < (scale+1)/2 {
		scale /= 2
	}
	return scale
}

// Rank returns the place of a job in the order Shortest, the least first: when it would
// be done if so many cores as ageing says had worked on nothing else since its release.
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
// With ageing a job's remaining work falls, as far as the order goes, by so many core-seconds
// a second. As it does so for all alike, the order of two jobs changes only when what they
// have left does, or the number of the pool's cores, never by time alone: so a heap of ranks
// stays one. It follows that a job of W core-seconds is overtaken by no job that is released
// more than W/ageing seconds after it. With a share of the pool's cores that is a number of
// times as long as all of the pool would need for it: short jobs, whose users watch, are
// hardly made to wait; long ones are, but never more than that many times as long as they
// would last on their own. By one core alone, whatever the pool, a job of 100 core-hours
// would let pass what comes in four days on 1,000 cores that do it in six minutes. A larger
// share brings the order closer to FIFO and mean flow times with it.
func Rank(release job.Time, ageing float64, left ...Unstarted) job.Time {
	seconds := 0.0
	for i := range left {
		seconds += left[i].Work()
	}
	return release + job.Time(math.Min(float64(seconds/ageing)*float64(time.Second), farthest))
}
