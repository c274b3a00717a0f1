package input

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"berth/internal/core/job"
)

// SplitOptions describes the resources for which splits are made.
type SplitOptions struct {
	Slots  int   // map tasks that can run at once
	Memory int64 // bytes that a map task may use for its buffers; 0: unknown

	// List calls each with the name, the size in bytes and the entity tag of every object whose name begins with prefix, and Tag returns the entity tag
	// of an object. They are required if an input names objects.
	List func(prefix string, each func(name string, size int64, tag string)) error
	Tag  func(name string) (string, error)
}

// InputSummary describes a job's input.
type InputSummary struct {
	Files     int   `json:"files"`
	Bytes     int64 `json:"bytes"`      // as on disk
	Packed    int   `json:"packed"`     // files that are compressed
	Skipped   int   `json:"skipped"`    // files in folders that were not read: sockets, devices, links in a circle
	SplitSize int64 `json:"split_size"` // bytes that a split should have

	Foreign     int    `json:"foreign"`                // files that look compressed in a way that berth cannot read
	ForeignFile string `json:"foreign_file,omitempty"` // one of them
}

const (
	minSplit = 1 << 20
	maxSplit = 128 << 20 // Hadoop's block size
	// tasksPerSlot is the number of maps for each slot, so that slots are busy for about the same time.
	tasksPerSlot = 4
	// slop is how much longer than the others the last split of a file may be, as a factor, so that no
	// split is tiny (FileInputFormat.SPLIT_SLOP).
	slop = 1.1
	// openCost is the cost of opening a file, expressed in bytes read in the same time.
	openCost = 16 << 10
	// unpackCost is the work of a compressed byte, expressed in plain bytes.
	unpackCost = 4
)

// PlanSplits finds the input files and cuts them into the splits of map tasks, in the order of paths
// and offsets. The same input always gives the same splits.
//
// Plain files are cut by size. A compressed file is one range. Small files share a split, up to the size
// of a split, unless the spec asks for TextInputFormat, KeyValueTextInputFormat or OneFilePerSplit.
// NLineInputFormat gives each split LinesPerMap lines. If all files are empty, there is one split without
// bytes, so that one mapper runs. If folders contain no files, there is no split, as in Hadoop.
func PlanSplits(spec *job.MapReduceSpec, opts SplitOptions) ([]job.Split, InputSummary, error) {
	found, err := findInputs(spec, opts)
	if err != nil {
		return nil, InputSummary{}, err
	}
	sum := InputSummary{Files: len(found.files), Skipped: found.skipped}
	var work int64
	for _, f := range found.files {
		sum.Bytes += f.Size
		work += f.work()
		switch {
		case f.packed:
			sum.Packed++
		case !found.binary && isForeign(f.Path):
			sum.Foreign++
			sum.ForeignFile = cmp.Or(sum.ForeignFile, f.Path)
		}
	}
	sum.SplitSize = splitSize(spec, opts, work)
	var splits []job.Split
	switch {
	case spec.InputFormat == "NLineInputFormat":
		lines := int64(max(spec.LinesPerMap, 1))
		splits, err = splitFiles(found.files, func(f inputFile) ([]job.Range, error) { return f.cutLines(lines) })
	case onePerSplit(spec):
		splits, err = splitFiles(found.files, func(f inputFile) ([]job.Range, error) { return f.cut(sum.SplitSize), nil })
	default:
		perFile := int64(openCost)
		if spec.MapsHint > 0 {
			perFile = 0 // the number of splits is more important
		}
		splits = packFiles(found.files, sum.SplitSize, perFile)
	}
	if err == nil && len(splits) == 0 && len(found.files) > 0 {
		splits = []job.Split{{Ranges: []job.Range{found.files[0].whole()}}}
	}
	return splits, sum, err
}

// onePerSplit reports whether a split may contain only one file.
func onePerSplit(spec *job.MapReduceSpec) bool {
	return spec.OneFilePerSplit || spec.InputFormat == "TextInputFormat" || spec.InputFormat == "KeyValueTextInputFormat"
}

// work returns the work of mapping a file, expressed in plain bytes.
func (f inputFile) work() int64 {
	if f.packed {
		return f.Size * unpackCost
	}
	return f.Size
}

// splitSize returns the size of a split, in bytes. There should be enough splits to keep all slots busy,
// and each should fit into the memory of a sort. MapsHint sets the number of splits instead. The user's
// bounds are applied last; if they conflict, the lower bound wins, as in
// FileInputFormat.computeSplitSize.
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

// part returns a range of the file.
func (f inputFile) part(at, length int64) job.Range {
	f.Offset, f.Length = at, length
	return f.Range
}

// whole returns the range of a whole file.
func (f inputFile) whole() job.Range {
	r := f.part(0, f.Size)
	if f.packed {
		r.Length = -1
	}
	return r
}

// cut returns the ranges of the file, of about size bytes each.
func (f inputFile) cut(size int64) []job.Range {
	if f.packed {
		return []job.Range{f.whole()}
	}
	var ranges []job.Range
	at := int64(0)
	for float64(f.Size-at) > slop*float64(size) {
		ranges = append(ranges, f.part(at, size))
		at += size
	}
	return append(ranges, f.part(at, f.Size-at))
}

// splitFiles makes one split of each range into which cut cuts the files.
func splitFiles(files []inputFile, cut func(inputFile) ([]job.Range, error)) ([]job.Split, error) {
	var splits []job.Split
	for _, f := range files {
		ranges, err := cut(f)
		if err != nil {
			return nil, err
		}
		for _, r := range ranges {
			splits = append(splits, job.Split{Ranges: []job.Range{r}})
		}
	}
	return splits, nil
}

// packFiles fills splits in order. A split has at most size bytes, or one larger range. perFile is the
// cost of opening a file, in bytes. Empty files are left out.
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
		if f.Size == 0 {
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
	return splits
}

// cutLines returns ranges of n lines each of a file (NLineInputFormat), none of an empty one. It reads a plain file. A compressed file is
// one range, as a reader cannot begin at a line within it.
func (f inputFile) cutLines(n int64) (ranges []job.Range, err error) {
	switch {
	case f.Size == 0:
		return nil, nil
	case f.packed:
		return []job.Range{f.whole()}, nil
	case job.IsObject(f.Path):
		// Its lines are not counted, as it would have to be read twice.
		return nil, job.ConfigError(f.Path, "NLineInputFormat cannot split an object", "copy it to a file first, or use another format")
	}
	file, err := Open(f.whole())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var at, from, lines int64
	s := bufio.NewScanner(io.NewSectionReader(file, 0, f.Size))
	s.Buffer(make([]byte, bufferSize), bufferSize) // all of it is read at a time
	s.Split(func(b []byte, end bool) (used int, line []byte, err error) {
		switch used = firstLine(b); {
		case used == 0:
			used = len(b)
		case used == len(b) && b[used-1] == '\r' && !end:
			used-- // an LF may follow
		default:
			line = b[:0]
		}
		at += int64(used)
		return used, line, nil
	})
	for s.Scan() {
		if lines++; lines%n == 0 {
			ranges, from = append(ranges, f.part(from, at-from)), at
		}
		if len(ranges) > maxTasks {
			return nil, job.ConfigError(f.Path, fmt.Sprintf("its lines would need more than %d map tasks", maxTasks), "set mapreduce.input.lineinputformat.linespermap higher")
		}
	}
	switch {
	case s.Err() != nil:
		return nil, inputError(f.Path, s.Err())
	case at < f.Size:
		return nil, changedSize(f.Path, f.Size, at)
	case from < f.Size:
		ranges = append(ranges, f.part(from, f.Size-from))
	}
	return ranges, nil
}

// maxTasks is the largest number of splits of a file with NLineInputFormat.
const maxTasks = 1_000_000
