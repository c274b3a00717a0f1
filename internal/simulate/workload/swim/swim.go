// Package swim reads the samples of Facebook's workload that come with SWIM (Y. Chen et al., The
// Case for Evaluating MapReduce Performance Using Workload Suites, MASCOTS 2011), plain or
// compressed by gzip:
//
//	jobs, err := swim.Open("FB-2009.tsv", swim.Options{Seed: 1})
//
// A line is a job with six fields separated by tabs, in the order of submission:
//
//	name    submit, s    s since the job before    input    shuffle    output, bytes
//
// The samples have the amount of data of a job, but neither the number of its tasks nor their
// durations. So a job gets a map for each 128 MiB of input, at least one; no reduces without
// shuffled data, otherwise one for each GiB of it; and task durations like those of the Facebook
// mix, independent of the data: N(60, 20) s for a map and N(120, 30) s for a reduce including its
// shuffle. So a sample differs from the mix in the arrivals and the numbers of tasks.
//
// The package is pure except for Open and the reader that it is given. It must not use a clock or
// global randomness.
package swim

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
	"berth/internal/simulate/workload/logfile"
)

// App is the application of all jobs.
const App = "swim"

const (
	split     = 128 << 20 // bytes of input of a map
	perReduce = 1 << 30   // bytes shuffled to a reduce
	maxTasks  = 1 << 24   // of all jobs: 128 MiB of durations; the samples have up to 8.5 million
	fields    = 6
)

// Options control how a sample becomes jobs.
type Options struct {
	Seed  uint64 // of the tasks' durations, which also depend on the job's line
	Users int    // number of users, to whom jobs are assigned in turn (0 … Users−1); 0: one
}

// Open reads the sample in a file. Errors that the user can correct are *job.Error with "file:line".
func Open(path string, o Options) ([]workload.Elastic, error) {
	f, err := logfile.Open(path, "the sample")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, path, o)
}

// Read reads a sample, whether compressed or not. name is its name in messages.
func Read(r io.Reader, name string, o Options) ([]workload.Elastic, error) {
	p := parser{o: o}
	err := logfile.Lines(r, name, func(number int, line []byte) error {
		text := string(line)
		if strings.TrimSpace(text) == "" {
			return nil
		}
		if err := p.line(number, text); err != nil {
			return workload.BadLine(name, number, err.Error(), "correct or remove the line")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p.jobs, nil
}

type parser struct {
	o     Options
	jobs  []workload.Elastic
	last  job.Time
	tasks int64 // of all jobs
}

// line parses a job.
func (p *parser) line(number int, text string) error {
	parts := strings.Split(strings.TrimSuffix(text, "\r"), "\t")
	if len(parts) != fields {
		return fmt.Errorf("the line has %d fields separated by tabs instead of %d", len(parts), fields)
	}
	var v [fields]int64
	for i, what := range []string{"time of submission", "time since the job before", "input", "shuffled data", "output"} {
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is not a valid %s", parts[i+1], what)
		}
		v[i+1] = n
	}
	if v[1] > int64(workload.Latest/job.Time(time.Second)) {
		return fmt.Errorf("the job is submitted %d s after the beginning, which is too late", v[1])
	}
	submit := job.Time(v[1] * int64(time.Second))
	if submit < p.last {
		return errors.New("the job is submitted before the previous job")
	}
	p.last = submit
	maps, reduces := max(1, ceil(v[3], split)), ceil(v[4], perReduce)
	if p.tasks += maps + reduces; p.tasks > maxTasks {
		return fmt.Errorf("with its %d maps and %d reduces there are more than %d tasks", maps, reduces, maxTasks)
	}
	p.add(number, submit, int(maps), int(reduces))
	return nil
}

// add adds a job with drawn tasks.
func (p *parser) add(number int, submit job.Time, maps, reduces int) {
	rng := rand.New(rand.NewPCG(p.o.Seed, uint64(number)))
	e := workload.Elastic{
		ID: int64(len(p.jobs) + 1), App: App, User: int64(len(p.jobs) % max(1, p.o.Users)), Submit: submit,
		Maps: workload.FacebookMap.Draw(rng, maps),
	}
	if reduces > 0 {
		e.Reduces = workload.FacebookReduce.Draw(rng, reduces)
	}
	p.jobs = append(p.jobs, e)
}

func ceil(bytes, unit int64) int64 {
	n := bytes / unit
	if bytes%unit > 0 {
		n++
	}
	return n
}
