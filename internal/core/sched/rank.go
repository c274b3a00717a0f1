package sched

import (
	"math"
	"time"

	"berth/internal/core/job"
)

// AgeingShare is the share of a pool's cores by which a job ages in the order Shortest: for each
// second that it waits, the work of that many cores in a second is subtracted from its remaining
// work. It is the work of at least one core.
const AgeingShare = 1.0 / 32

const (
	// guess is the assumed time of a task without a plan.
	guess = time.Minute
	// planWeight and guessWeight are the numbers of measured tasks that weigh as much as a plan and
	// as a guess. The first tasks that end are the short ones, so one or two measured tasks must not
	// reorder the line.
	planWeight  = enough
	guessWeight = 1
	// farthest bounds the remaining time of a job to 73 years, so that ranks cannot overflow.
	farthest = 1 << 61
)

// Unstarted is the work of tasks of a job with equal needs that has yet to start.
type Unstarted struct {
	Tasks int // tasks that are neither done nor failed and hold no core yet
	CPUs  int // cores of each task
	Times
}

// Work returns the core-seconds that have yet to start.
func (u *Unstarted) Work() float64 {
	return float64(u.Tasks) * float64(max(1, u.CPUs)) * u.mean()
}

// Work returns the core-seconds of the job that have yet to start.
func (j *Job) Work() (sum float64) {
	for _, t := range j.By {
		sum += t.Left.Work()
	}
	return sum
}

// hurried is added to the deadline of a job that can meet it, so that such jobs come before all others. In simulations more of them meet
// theirs in this order than in that of slack (berth-lab deadlines).
const hurried = job.Time(math.MinInt64 / 2)

// LatestStart returns when the job's remaining work must begin on all of so many cores for its deadline to be met.
func (j *Job) LatestStart(cores int) job.Time {
	return j.Due.Add(-job.Seconds(min(j.Work()/float64(max(1, cores)), 1<<30)))
}

// Ageing returns the number of cores by whose work a job ages in a pool of that many
// cores.
func Ageing(cores int, share float64) float64 { return max(1, float64(cores)*share) }

// PoolScale returns the size of a pool in cores, rounded to a power of two, for Ageing. was is the
// previous result. It stays the same while the number of cores is at least half of it and less
// than twice as much. So all jobs are ranked again only when the pool has doubled or halved,
// and not whenever an allocation comes or goes.
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

// Rank returns the rank of a job in the order Shortest, the lowest first: the time at which it would
// be done if ageing cores had worked on nothing else since its release. seconds are the core-seconds that have yet to start.
//
// Without ageing this is shortest remaining processing time first, which no schedule of one machine
// beats in mean flow time (Schrage 1968). On several machines it is within a factor of
// O(log min(n/m, largest/smallest)) of the best, as good as any online algorithm can be
// (Leonardi and Raz 1997). A job whose tasks run on any slot of the pool is almost a job on one
// machine as fast as all of them. So the rank compares work and not time to finish, which is the
// same work divided by the same slots, except for the last wave, in which slots that one job leaves
// idle serve the next. Running tasks do not count: they need no further slot, and of two jobs the
// one that needs fewer further slots is done sooner. No task is killed for the order; jobs overtake
// between tasks.
//
// With ageing, the remaining work that counts falls by ageing core-seconds in each second. As it
// falls for all jobs alike, the order of two jobs changes only with their remaining work or with the
// number of the pool's cores, never with time alone; so a heap of ranks stays valid. It follows that a
// job of W core-seconds is overtaken by no job that is released more than W/ageing seconds after it. If
// ageing is a share of the pool's cores, that is a multiple of the time that the whole pool needs for
// the job: short jobs hardly wait, and long ones wait at most that multiple of their own time. If
// ageing were one core whatever the pool, a job of 100 core-hours on 1,000 cores, which takes six minutes,
// would let pass the jobs of four days. A larger share moves the order, and with it mean flow times,
// closer to FIFO.
//
// A job of weight w counts as one of a w-th of its work: its ageing is w times that of others. On one machine the order
// by work over weight has the lowest weighted sum of completion times (Smith 1956).
func Rank(release job.Time, ageing, seconds float64) job.Time {
	return release + job.Time(min(float64(seconds/ageing)*float64(time.Second), farthest))
}
