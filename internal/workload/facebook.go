package workload

import (
	"math/rand/v2"
	"time"

	"berth/internal/job"
)

// FacebookBin is a class of jobs of a size.
type FacebookBin struct {
	Maps, Reduces int
	Weight        int // among all jobs; those of all bins sum to 101
}

// FacebookBins is Table 1 of "mr-job-adaptor", after Zaharia et al., Delay Scheduling,
// EuroSys 2010: the first is bin 1. The percentages printed there sum to 101.
var FacebookBins = []FacebookBin{
	{1, 0, 39}, {2, 0, 16}, {10, 3, 14}, {50, 0, 9}, {100, 0, 6}, {200, 50, 6}, {400, 0, 4}, {800, 180, 4}, {2400, 0, 3},
}

// The times of the paper's section 4. Tasks that are drawn shorter than a second are drawn anew.
var (
	FacebookMap    = Normal{Mean: 60 * time.Second, SD: 20 * time.Second}
	FacebookReduce = Normal{Mean: 120 * time.Second, SD: 30 * time.Second}
)

const facebookEvery = 14 * time.Second

// facebookApp is the one application all jobs are of.
const facebookApp = "facebook"

// Facebook says what mix of MapReduce jobs is to be made ("mr-job-adaptor", section 4).
type Facebook struct {
	Every time.Duration // mean time between arrivals, which is exponential; 0: 14 s
	Bin   int           // jobs of this bin alone, from 1 (Fig. 3); 0: the mix
	Users int           // to whom jobs are dealt at random, 0 … Users−1; 0: one
}

// FacebookJobs makes jobs one after another. Arrivals, sizes, users and tasks are drawn
// from sources of their own: the jobs of one bin arrive when those of the mix do, and a
// job's tasks depend on its number and size alone.
type FacebookJobs struct {
	p                      Facebook
	arrivals, sizes, users *rand.Rand
	tasks                  uint64 // with the job's number the seed of its tasks
	clock                  int64  // ms: the last arrival
	id                     int64
}

// NewFacebook returns a generator; it takes four numbers from rng, and none later.
func NewFacebook(p Facebook, rng *rand.Rand) *FacebookJobs {
	if p.Every == 0 {
		p.Every = facebookEvery
	}
	p.Users = max(p.Users, 1)
	source := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), stream)) }
	return &FacebookJobs{p: p, arrivals: source(1), sizes: source(2), users: source(3), tasks: rng.Uint64()}
}

// Next returns the next job. Its shuffles take no time: the model has none.
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

// bin draws a bin, also where it is given, so that the draws after it stay the same.
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

// Jobs returns the next n jobs.
func (g *FacebookJobs) Jobs(n int) []Elastic {
	jobs := make([]Elastic, n)
	for i := range jobs {
		jobs[i] = g.Next()
	}
	return jobs
}

// Until returns the next jobs up to those that arrive before end.
func (g *FacebookJobs) Until(end job.Time) []Elastic {
	var jobs []Elastic
	for j := g.Next(); j.Submit < end; j = g.Next() {
		jobs = append(jobs, j)
	}
	return jobs
}
