package input

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"berth/internal/job"
)

// SplitOptions says what the splits are made for.
type SplitOptions struct {
	Slots  int   // map tasks that can run at once
	Memory int64 // bytes that a map task may use for its buffers; 0: unknown

	// List calls each with the name and the size in bytes of every object whose name begins with prefix. It is needed where inputs name objects.
	List func(prefix string, each func(name string, size int64)) error
}

// InputSummary describes a job's input.
type InputSummary struct {
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`      // as on disk
	Packed    int   `json:"packed"`     // files that are compressed
	Skipped   int   `json:"skipped"`    // passed over in folders: sockets, devices, links in a circle
	SplitSize int64 `json:"split_size"` // bytes aimed at

	Foreign     int    `json:"foreign"`                // files that look compressed in a way that is not unpacked
	ForeignFile string `json:"foreign_file,omitempty"` // one of them
}

const (
	minSplit = 1 << 20
	maxSplit = 128 << 20 // Hadoop's block size
	// tasksPerSlot evens out how long tasks take.
	tasksPerSlot = 4
	// slop is how much longer the last split of a file may be, so that none is tiny
	// (FileInputFormat.SPLIT_SLOP).
	slop = 1.1
	// openCost is what opening a file costs, in bytes that could be read instead.
	openCost = 16 << 10
	// unpackCost is the work of a compressed byte, in plain ones.
	unpackCost = 4
)

// PlanSplits finds the input files and cuts them into the splits of map tasks, in
// the order of paths and offsets; the same input gives the same splits.
//
// Plain files are cut by size, compressed ones are taken whole. Small files share
// splits, up to a split's size, unless the spec asks for TextInputFormat,
// KeyValueTextInputFormat or OneFilePerSplit. NLineInputFormat gives each split
// LinesPerMap lines. If all files are empty there is one split, without bytes, for
// one mapper to run; if folders hold no files there is none, as in Hadoop.
func PlanSplits(spec *job.MapReduceSpec, opts SplitOptions) ([]job.Split, InputSummary, error) {
	found, err := findInputs(spec, opts)
	if err != nil {
		return nil, InputSummary{}, err
	}
	sum := InputSummary{Files: len(found.files), Skipped: found.skipped}
	var work int64
	for _, f := range found.files {
		sum.Bytes += f.size
		work += f.work()
		switch {
		case f.packed:
			sum.Packed++
		case !found.binary && isForeign(f.path):
			sum.Foreign++
			sum.ForeignFile = cmp.Or(sum.ForeignFile, f.path)
		}
	}
	sum.SplitSize = splitSize(spec, opts, work)
	switch {
	case spec.InputFormat == "NLineInputFormat":
		splits, err := splitByLines(found.files, int64(max(spec.LinesPerMap, 1)))
		return splits, sum, err
	case onePerSplit(spec):
		return splitFiles(found.files, sum.SplitSize), sum, nil
	default:
		perFile := int64(openCost)
		if spec.MapsHint > 0 {
			perFile = 0 // the number of splits matters more
		}
		return packFiles(found.files, sum.SplitSize, perFile), sum, nil
	}
}

// onePerSplit reports whether a split may only hold one file.
func onePerSplit(spec *job.MapReduceSpec) bool {
	return spec.OneFilePerSplit || spec.InputFormat == "TextInputFormat" || spec.InputFormat == "KeyValueTextInputFormat"
}

// work is a file's size as far as the time to map it goes, in bytes.
func (f inputFile) work() int64 {
	if f.packed {
		return f.size * unpackCost
	}
	return f.size
}

// splitSize returns the bytes to aim at: enough splits to keep the slots busy
// evenly, each small enough to be sorted in memory at once. MapsHint sets the number
// of splits instead; bounds that the user gave come last, the lower one winning, as
// in FileInputFormat.computeSplitSize.
func splitSize(spec *job.MapReduceSpec, opts SplitOptions, work int64) int64 {
	var size int64
	if spec.MapsHint > 0 {
		hint := int64(spec.MapsHint)
		size = max((work+hint-1)/hint, 1)
	} else {
		high := int64(maxSplit)
		if opts.Memory > 0 {
			high = min(high, opts.Memory/10*7)
		}
		size = max(min(work/(int64(max(opts.Slots, 1))*tasksPerSlot), high), minSplit)
	}
	if spec.MaxSplit > 0 {
		size = min(size, spec.MaxSplit)
	}
	return max(size, spec.MinSplit)
}

// whole returns the range of all of a file.
func (f inputFile) whole() job.Range {
	r := job.Range{Path: f.path, Length: f.size, Size: f.size}
	if f.packed {
		r.Length = -1
	}
	return r
}

// cut returns the file's ranges of about size bytes.
func (f inputFile) cut(size int64) []job.Range {
	if f.packed || float64(f.size) <= slop*float64(size) {
		return []job.Range{f.whole()}
	}
	var ranges []job.Range
	at := int64(0)
	for float64(f.size-at) > slop*float64(size) {
		ranges = append(ranges, job.Range{Path: f.path, Offset: at, Length: size, Size: f.size})
		at += size
	}
	return append(ranges, job.Range{Path: f.path, Offset: at, Length: f.size - at, Size: f.size})
}

// splitFiles gives each range a split of its own, empty files too.
func splitFiles(files []inputFile, size int64) []job.Split {
	var splits []job.Split
	for _, f := range files {
		for _, r := range f.cut(size) {
			splits = append(splits, job.Split{Ranges: []job.Range{r}})
		}
	}
	return splits
}

// packFiles fills splits in order, each up to size or with one larger range; perFile
// is the cost of opening a file, in bytes. Empty files are left out unless there are
// no others.
func packFiles(files []inputFile, size, perFile int64) []job.Split {
	var splits []job.Split
	var open job.Split
	var load int64
	seal := func() {
		if len(open.Ranges) > 0 {
			splits = append(splits, open)
		}
		open, load = job.Split{}, 0
	}
	for _, f := range files {
		if f.size == 0 {
			continue
		}
		for _, r := range f.cut(size) {
			cost := r.Length + perFile
			if f.packed {
				cost = f.work() + perFile
			}
			if load+cost > size+perFile {
				seal()
			}
			open.Ranges = append(open.Ranges, r)
			load += cost
		}
	}
	seal()
	if len(splits) == 0 && len(files) > 0 {
		return []job.Split{{Ranges: []job.Range{files[0].whole()}}}
	}
	return splits
}

// splitByLines cuts files after every n lines (NLineInputFormat); it reads them all.
// A compressed file is one split, as its lines cannot be reached one by one.
func splitByLines(files []inputFile, n int64) ([]job.Split, error) {
	var splits []job.Split
	for _, f := range files {
		if f.size == 0 {
			continue
		}
		ranges := []job.Range{f.whole()}
		if !f.packed {
			if job.IsObject(f.path) {
				return nil, noLines(f.path)
			}
			var err error
			if ranges, err = f.cutLines(n); err != nil {
				return nil, err
			}
		}
		for _, r := range ranges {
			splits = append(splits, job.Split{Ranges: []job.Range{r}})
		}
	}
	if len(splits) == 0 && len(files) > 0 {
		return []job.Split{{Ranges: []job.Range{files[0].whole()}}}, nil
	}
	return splits, nil
}

// noLines refuses to count the lines of an object: all of it would be read twice.
func noLines(path string) error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: path, What: "NLineInputFormat cuts no objects by their lines",
		Do: "copy it here first, or use another format"}
}

// cutLines returns ranges of n lines of a plain file.
func (f inputFile) cutLines(n int64) (ranges []job.Range, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, inputError(f.path, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	c := lineCutter{file: f, n: n}
	buf := buffers.Get().(*[]byte)
	defer buffers.Put(buf)
	for c.at < f.size {
		m, err := file.Read((*buf)[:min(bufferSize, f.size-c.at)])
		if errors.Is(err, io.EOF) {
			return nil, changedError(f.path, f.size, c.at)
		}
		if err != nil {
			return nil, inputError(f.path, err)
		}
		if err := c.scan((*buf)[:m]); err != nil {
			return nil, err
		}
	}
	if c.from < f.size {
		c.cut(f.size)
	}
	return c.ranges, nil
}

// lineCutter cuts a file that it is shown from the beginning.
type lineCutter struct {
	file   inputFile
	n      int64 // lines a range
	at     int64 // shown so far
	from   int64 // where the open range begins
	lines  int64 // in it
	ranges []job.Range
}

func (c *lineCutter) scan(b []byte) error {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			break
		}
		i += j + 1
		if c.lines++; c.lines == c.n {
			c.cut(c.at + int64(i))
		}
		if len(c.ranges) > maxTasks {
			return tooManyLines(c.file.path)
		}
	}
	c.at += int64(len(b))
	return nil
}

// cut ends the open range at an offset.
func (c *lineCutter) cut(to int64) {
	c.ranges = append(c.ranges, job.Range{Path: c.file.path, Offset: c.from, Length: to - c.from, Size: c.file.size})
	c.from, c.lines = to, 0
}

// maxTasks bounds the splits made of one file's lines; a longer task table helps nobody.
const maxTasks = 1_000_000

func tooManyLines(path string) error {
	return &job.Error{
		Class: job.User, Code: job.CodeConfig, Where: path,
		What: fmt.Sprintf("more than %d map tasks would be needed for its lines", maxTasks),
		Do:   "set mapreduce.input.lineinputformat.linespermap higher",
	}
}
