package shuffle

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"berth/internal/core/job"
	"berth/internal/mapreduce/extsort"
	"berth/internal/sys/probe"
)

// copiers is how many segments are fetched at once.
const copiers = 4

// Progress receives what a reduce fetches.
type Progress interface {
	In(bytes, records int64)  // of segments that were fetched
	Out(bytes, records int64) // copied into the scratch folder
	Spent(probe.Spent)
	Net(bytes int64)        // fetched from other nodes
	Waited(d time.Duration) // time during which there was nothing to fetch
}

// Source is where a reduce finds map outputs.
type Source struct {
	Node      *Node
	Locations *Locations // of the job
	// Lost is called when an output cannot be fetched, by each reduce that needs it.
	Lost func(loc Location, err error)
	// Open opens the partition's segment of a map output; nil: Node.Open.
	Open func(ctx context.Context, loc Location, partition int) (Segment, error)
	Wait time.Duration // before a failed fetch is repeated; 0: fetchWait
}

// Config describes what a reduce attempt fetches.
type Config struct {
	Source
	By        job.Attempt
	Partition int
	Maps      int    // number of map tasks: segments to fetch
	Dir       string // scratch folder, which must exist
	Progress  Progress
}

// Collector collects the segments of a reduce. Local segments stay where they are. Others are verified and
// copied into one file for each copier.
type Collector struct {
	Config

	mu      sync.Mutex
	outputs []output // by map task
	missing int      // segments that were not fetched
	read    int      // how many of the locations were read
	again   []Location
	Bytes   int64 // of all segments that were fetched
}

// output is the state of the output of a map.
type output struct {
	loc  Location      // from where it is or was fetched, or will be; zero: no usable location is known
	file *extsort.File // its segment; nil: empty, or not fetched
}

// NewCollector returns a collector that has fetched nothing.
func NewCollector(c Config) *Collector {
	c.Wait = cmp.Or(c.Wait, fetchWait)
	if c.Open == nil {
		c.Open = c.Node.Open
	}
	return &Collector{Config: c, outputs: make([]output, c.Maps), missing: c.Maps}
}

// Files returns the segments that are not empty, in the order of their maps.
func (c *Collector) Files() []*extsort.File {
	var files []*extsort.File
	for _, o := range c.outputs {
		if o.file != nil {
			files = append(files, o.file)
		}
	}
	return files
}

// Lose discards a segment that turned out to be damaged, so that Collect fetches it again. It returns false if
// the file is not a segment but was made by a merge.
func (c *Collector) Lose(file *extsort.File, err error) bool {
	task := slices.IndexFunc(c.outputs, func(o output) bool { return o.file == file })
	if task < 0 {
		return false
	}
	c.missing++
	c.giveUp(c.outputs[task].loc, err)
	return true
}

// Collect fetches all missing segments.
func (c *Collector) Collect(ctx context.Context) error {
	if c.missing == 0 {
		return nil
	}
	all, done := context.WithCancel(ctx)
	defer done()
	group, within := errgroup.WithContext(all)
	waits := &waits{report: c.Progress.Waited, since: time.Now()}
	for i := range copiers {
		group.Go(func() error {
			f := &copier{Collector: c, path: filepath.Join(c.Dir, fmt.Sprintf("fetched-%d", i)), waits: waits, done: done}
			return f.run(within)
		})
	}
	err := group.Wait()
	if c.missing == 0 {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// await waits for the location of an output to fetch.
func (c *Collector) await(ctx context.Context) (Location, error) {
	for {
		loc, ok, more := c.next()
		if ok {
			return loc, nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return Location{}, ctx.Err()
		}
	}
}

// next returns the location of an output to fetch. If there is none, it returns a channel that is closed when
// more locations are known.
func (c *Collector) next() (loc Location, ok bool, more <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.again); n > 0 {
		loc, c.again = c.again[n-1], c.again[:n-1]
		return loc, true, nil
	}
	list, more := c.Locations.from(c.read)
	for _, loc := range list {
		c.read++
		task := loc.Attempt.Task
		if task >= 0 && task < len(c.outputs) && c.outputs[task].loc == (Location{}) {
			loc = c.Locations.newest(task) // an older location may not answer any more
			c.outputs[task] = output{loc: loc}
			return loc, true, nil
		}
	}
	return Location{}, false, more
}

// add records a fetched segment, and reports whether it was the last one.
func (c *Collector) add(loc Location, file *extsort.File, bytes int64) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var records int64
	if file != nil {
		records = file.Records()
	}
	c.outputs[loc.Attempt.Task] = output{loc: loc, file: file}
	c.missing--
	c.Bytes += bytes
	c.Progress.In(bytes, records)
	return c.missing == 0
}

// giveUp discards an output that could not be fetched or is damaged. If a newer location is known, it is fetched
// from there. Otherwise giveUp calls Lost.
func (c *Collector) giveUp(loc Location, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if newer := c.Locations.newest(loc.Attempt.Task); newer != loc {
		c.outputs[loc.Attempt.Task] = output{loc: newer}
		c.again = append(c.again, newer) // for the copier that has given it up, or the first one that begins
		return
	}
	c.outputs[loc.Attempt.Task] = output{}
	c.Node.lost(loc, c.By, err)
	c.Lost(loc, err)
}
