package loads

// This file is the table of the demands of the tasks of seven Hadoop jobs, phase by phase. The
// figures were chosen once, from what such tasks move and compute, and are not fitted to the results
// of any scheduler.
//
// Bytes. A map reads its split once. Its output, whose size depends on the application, is written
// as spills. If it is larger than the sort buffer (io.sort.mb 100, of which 80 % fill before a
// spill), the phase merge reads the spills and writes one file. The bytes of a shuffle are read from
// the disks of the nodes that made them; the shuffle writes what its buffer does not hold
// (mapred.job.shuffle.merge.percent, two thirds, of a buffer of some 400 MB). The phase sort merges
// the contents of that buffer and writes them, too; there are then fewer runs than one merge can
// read (io.sort.factor 10). The phase reduce merges the runs while it reads them, and writes its
// output, one copy on its own node.
//
// Half of what is read back comes from the page cache (readBack): nodes of 8 GB leave a few GB to
// it, which are written within about a minute at 100 MB/s. The output sizes of MonsterQuery and
// WebDataScan are those of Hadoop's suite GridMix (keep 100 % map, 77 % reduce, the second of
// MonsterQuery's three stages; keep 1 % map, 5 % reduce). Sort keeps everything, a job with a
// combiner little, and inverted index the words and their positions. Self-join and classification
// follow the descriptions of PUMA (Ahmad et al., Purdue): one emits about what it reads and joins it
// in the reduce; the other assigns each record to a cluster and emits next to nothing. There is a
// reduce for each 512 MB of map output.
//
// Core-seconds per MB. Hadoop's maps read, decode and pass on 15 to 30 MB/s on a core of 2 GHz
// (Pavlo et al., SIGMOD 2009; Jiang et al., VLDB 2010), and sort and write about as fast. A merge
// moves 50 MB/s. Word counting and indexing, which split text, process about 5 to 8 MB/s. A task
// starts a virtual machine, which needs about a core-second.
//
// Memory is the peak: a virtual machine of 150 MB; in a map also 100 MB of sort buffer and what is
// serialized; in a shuffle the buffer of segments; in sort and reduce the buffers of the merge, and
// what the reducer keeps of a key.
//
// The paper calls sort and MonsterQuery intensive in I/O, and Combiner and self-join intensive in
// CPU (phase-level-scheduling, section III).

const (
	mb = 1 << 20
	gb = 1 << 30

	splitBytes    = 128 * mb
	partBytes     = 512 * mb // of a reduce, about
	sortMemory    = 100 * mb // of a map
	sortBuffer    = 80 * mb  // of map output in one spill
	shuffleBuffer = 256 * mb // of its part that a shuffle holds in memory
	readBack      = 0.5      // fraction of recently written bytes that are read from the disk and not from the page cache
	startCPU      = 1.0      // core-seconds to start a task
	mergeCPU      = 0.02     // core-seconds per MB to merge and write
	fetchCPU      = 0.01     // core-seconds per MB to fetch
)

// profile is the demands of the tasks of an application.
type profile struct {
	name                string
	mapCPU, reduceCPU   float64 // core-seconds per MB of input of the phases map and reduce, including the last merge
	keepMap, keepReduce float64 // bytes out per byte in
	// bytes at the peak
	mapMemory, mergeMemory, shuffleMemory, sortMemory, reduceMemory int64
}

// The names of the applications.
const (
	SortApp           = "sort"
	MonsterQueryApp   = "monster-query"
	WebDataScanApp    = "web-data-scan"
	CombinerApp       = "combiner"
	SelfJoinApp       = "self-join"
	InvertedIndexApp  = "inverted-index"
	ClassificationApp = "classification"
)

// PumaApps returns the applications of the paper's series a, from the benchmark PUMA (phase-level-scheduling, section III).
func PumaApps() []string { return []string{SortApp, SelfJoinApp, InvertedIndexApp, ClassificationApp} }

// GridmixApps returns those of its series b, from Gridmix 2.
func GridmixApps() []string { return []string{MonsterQueryApp, WebDataScanApp, CombinerApp} }

var profiles = []profile{
	{SortApp, 0.06, 0.06, 1, 1, 450 * mb, 250 * mb, 750 * mb, 500 * mb, 400 * mb},
	{MonsterQueryApp, 0.08, 0.07, 1, 0.77, 450 * mb, 250 * mb, 750 * mb, 500 * mb, 500 * mb},
	{WebDataScanApp, 0.06, 0.07, 0.01, 0.05, 350 * mb, 200 * mb, 300 * mb, 300 * mb, 300 * mb},
	{CombinerApp, 0.2, 0.08, 0.1, 0.8, 450 * mb, 250 * mb, 500 * mb, 400 * mb, 400 * mb},
	{SelfJoinApp, 0.12, 0.22, 0.8, 0.3, 500 * mb, 250 * mb, 750 * mb, 500 * mb, 1 * gb},
	{InvertedIndexApp, 0.15, 0.1, 0.3, 0.7, 500 * mb, 250 * mb, 600 * mb, 500 * mb, 600 * mb},
	{ClassificationApp, 0.15, 0.07, 0.005, 1, 400 * mb, 200 * mb, 300 * mb, 300 * mb, 300 * mb},
}

// mapAmounts returns the demands of the phases of a map with a split of the given bytes.
func (p *profile) mapAmounts(split float64) (a [2]Amounts) {
	out := split * p.keepMap
	a[0] = Amounts{CPU: startCPU + split/mb*p.mapCPU, Disk: split + out, Memory: p.mapMemory}
	a[1] = Amounts{Memory: p.mergeMemory}
	if out > sortBuffer {
		a[1] = p.merge(out)
	}
	return a
}

// merge returns the demand of the merge of a number of bytes.
func (p *profile) merge(out float64) Amounts {
	return Amounts{CPU: out / mb * mergeCPU, Disk: out*readBack + out, Memory: p.mergeMemory}
}

// reduceAmounts returns the demands of the phases of a reduce whose part has the given bytes.
func (p *profile) reduceAmounts(part float64) (a [3]Amounts) {
	buffered := min(part, shuffleBuffer)
	spilled := part - buffered
	a[0] = Amounts{CPU: startCPU + part/mb*fetchCPU + spilled/mb*mergeCPU, Disk: spilled, Net: part, Memory: p.shuffleMemory}
	a[1] = Amounts{CPU: buffered / mb * mergeCPU, Disk: buffered, Memory: p.sortMemory}
	a[2] = Amounts{CPU: part / mb * p.reduceCPU, Disk: part*readBack + part*p.keepReduce, Memory: p.reduceMemory}
	return a
}
