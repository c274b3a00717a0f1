package workload

import (
	"math/rand/v2"
	"time"

	"berth/internal/core/job"
)

// FacebookBin is a class of jobs of one size.
type FacebookBin struct {
	Maps, Reduces int
	Weight        int // weight among all jobs; the weights of all bins add up to 101
}

// FacebookBins is Table 1 of "mr-job-adaptor", after Zaharia et al., Delay Scheduling, EuroSys 2010.
// The first element is bin 1. The percentages printed in the paper add up to 101.
var FacebookBins = []FacebookBin{
	{1, 0, 39}, {2, 0, 16}, {10, 3, 14}, {50, 0, 9}, {100, 0, 6}, {200, 50, 6}, {400, 0, 4}, {800, 180, 4}, {2400, 0, 3},
}

// The task times of the paper's section 4. A draw shorter than a second is repeated.
var (
	FacebookMap    = Normal{Mean: 60 * time.Second, SD: 20 * time.Second}
	FacebookReduce = Normal{Mean: 120 * time.Second, SD: 30 * time.Second}
)

const facebookEvery = 14 * time.Second

// facebookApp is the single application of all jobs.
const facebookApp = "facebook"

// Facebook are the parameters of a mix of MapReduce jobs ("mr-job-adaptor", section 4).
type Facebook struct {
	Every time.Duration // mean of the exponential time between arrivals; 0: 14 s
	Bin   int           // jobs of this bin only, counted from 1 (Fig. 3); 0: the mix
	Users int           // number of users, to whom jobs are assigned at random (0 … Users−1); 0: one
}

// FacebookJobs generates jobs one after another. Arrivals, sizes, users and tasks have separate
// random sources: the jobs of a single bin arrive when those of the mix do, and a job's tasks depend
// only on its number and size.
type FacebookJobs struct {
	p                      Facebook
	arrivals, sizes, users *rand.Rand
	tasks                  uint64 // with the job's number the seed of its tasks
	clock                  int64  // ms: the last arrival
	id                     int64
}

// NewFacebook returns a generator. It draws four numbers from rng now and none later.
func NewFacebook(p Facebook, rng *rand.Rand) *FacebookJobs {
	if p.Every == 0 {
		p.Every = facebookEvery
	}
	p.Users = max(p.Users, 1)
	source := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), stream)) }
	return &FacebookJobs{p: p, arrivals: source(1), sizes: source(2), users: source(3), tasks: rng.Uint64()}
}

// Next returns the next job. Its shuffles take no time, because the model has no shuffles.
func (g *FacebookJobs) Next() Elastic {
	g.id++
	g.clock += millis(g.arrivals.ExpFloat64() * g.p.Every.Seconds())
	bin, user := g.bin(), g.users.IntN(g.p.Users)
	size := FacebookBins[bin-1]
	rng := rand.New(rand.NewPCG(g.tasks, uint64(g.id)))
	e := Elastic{
		ID: g.id, App: facebookApp, User: int64(user), Submit: job.Time(g.clock * int64(time.Millisecond)),
		Bin: bin, Maps: FacebookMap.Draw(rng, size.Maps),
	}
	if size.Reduces > 0 {
		e.Reduces = FacebookReduce.Draw(rng, size.Reduces)
	}
	return e
}

// bin draws a bin. It draws even if the bin is given, so that later draws stay the same.
func (g *FacebookJobs) bin() int {
	total := 0
	for _, b := range FacebookBins {
		total += b.Weight
	}
	n, bin := g.sizes.IntN(total), 0
	for n >= 0 {
		n -= FacebookBins[bin].Weight
		bin++
	}
	if g.p.Bin > 0 {
		return g.p.Bin
	}
	return bin
}
