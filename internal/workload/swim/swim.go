// Package swim reads the samples of Facebook's workload that come with SWIM (Y. Chen et al.,
// The Case for Evaluating MapReduce Performance Using Workload Suites, MASCOTS 2011), plain
// or compressed by gzip. A line is a job of six fields with tabs between them, in the order
// of submission:
//
//	name    submit, s    s since the job before    input    shuffle    output, bytes
//
// The samples tell how much data a job had and not how many tasks, nor how long they took.
// So a job has a map for each 128 MiB of input, one at least; none of its reduces without
// shuffled data, else one for each GiB of it; and its tasks last as those of the Facebook
// mix do, whatever data they have: N(60, 20) s a map and N(120, 30) s a reduce, shuffle
// included. What a sample adds to the mix is thus when jobs come and how many tasks they have.
//
// The package is pure but for the reader that it is given, and for Open.
package swim

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

// App is the application that all jobs are taken to be of.
const App = "swim"

const (
	split     = 128 << 20 // bytes of input of a map
	perReduce = 1 << 30   // bytes that are shuffled to a reduce
	maxTasks  = 1 << 24   // of all jobs: 128 MiB of durations; the samples have up to 8.5 million
	maxLine   = 1 << 16
	fields    = 6
)

// Options say what becomes of a sample.
type Options struct {
	Seed  uint64 // of the tasks' durations; those of a job depend on its line besides
	Users int    // to whom jobs are dealt in turn, 0 … Users−1; 0: one
}

// Open reads the sample in a file. Errors that a person has to mend are *job.Error with
// "file:line".
func Open(path string, o Options) ([]workload.Elastic, error) {
	f, err := os.Open(path)
	if err != nil {
		code := job.CodeIO
		if errors.Is(err, fs.ErrNotExist) {
			code = job.CodeNoInput
		}
		return nil, &job.Error{Class: job.User, Code: code, What: "cannot open the sample", Err: err}
	}
	defer func() { _ = f.Close() }()
	return Read(f, path, o)
}

// Read reads a sample, compressed or not, that is called name in messages.
func Read(r io.Reader, name string, o Options) ([]workload.Elastic, error) {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(2); string(head) != "\x1f\x8b" { // an error comes again
		return read(in, name, o)
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, broken(name, 1, err)
	}
	return read(z, name, o)
}

func read(r io.Reader, name string, o Options) ([]workload.Elastic, error) {
	p := parser{o: o}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	number := 0
	for lines.Scan() {
		number++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		if err := p.line(number, lines.Text()); err != nil {
			// Damage garbles lines long before the checksum at the end tells of it.
			if _, rest := io.Copy(io.Discard, r); isDamage(rest) {
				return nil, broken(name, number, rest)
			}
			return nil, workload.BadLine(name, number, err.Error(), "mend or remove the line")
		}
	}
	if err := lines.Err(); err != nil {
		return nil, broken(name, number+1, err)
	}
	return p.jobs, nil
}

// broken says how far a sample could be read.
func broken(name string, line int, err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return workload.BadLine(name, line, "the compressed file ends here, before its end", "get the whole file: it was cut short")
	case isDamage(err) || errors.Is(err, gzip.ErrHeader):
		return workload.BadLine(name, line, "the compressed file is damaged, here or before", "get the file anew")
	case errors.Is(err, bufio.ErrTooLong):
		return workload.BadLine(name, line, "the line is too long", "this is no SWIM sample")
	}
	return &job.Error{Class: job.Fatal, Code: job.CodeIO, Where: fmt.Sprintf("%s:%d", name, line), What: "cannot read on", Err: err}
}

func isDamage(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}

type parser struct {
	o     Options
	jobs  []workload.Elastic
	last  job.Time
	tasks int64 // of all jobs
}

// line takes in a job.
func (p *parser) line(number int, text string) error {
	parts := strings.Split(strings.TrimSuffix(text, "\r"), "\t")
	if len(parts) != fields {
		return fmt.Errorf("%d fields with tabs between them, not %d", len(parts), fields)
	}
	var v [fields]int64
	for i, what := range []string{"time of submission", "time since the job before", "input", "shuffled data", "output"} {
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q is no %s", parts[i+1], what)
		}
		v[i+1] = n
	}
	if v[1] > int64(workload.Latest/job.Time(time.Second)) {
		return fmt.Errorf("submitted %d s after the beginning, which is too late", v[1])
	}
	submit := job.Time(v[1] * int64(time.Second))
	if submit < p.last {
		return errors.New("submitted before the job before it")
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
