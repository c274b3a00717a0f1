package mapreduce

import (
	"cmp"
	"slices"
)

// MaxFanIn is how many runs are merged at once where descriptors are plenty, as each holds
// a file open; with more of them a merge would be no faster.
const MaxFanIn = 256

// fanIn returns how many runs an attempt merges at once that may hold so many files open;
// 0: MaxFanIn.
func fanIn(files int) int {
	if files <= 0 {
		return MaxFanIn
	}
	return max(2, min(files, MaxFanIn))
}

// fits returns how many of the runs, from the first on, can be merged at once in
// memory bytes, at most fan; at least two, as with fewer nothing would be gained.
func fits(runs []*sortedRun, memory int64, fan int) int {
	n := 0
	for n < len(runs) && n < fan {
		memory -= runs[n].need() + 8
		if memory < 0 && n >= 2 {
			break
		}
		n++
	}
	return n
}

// firstPass returns how many of the runs to merge into one, in memory bytes for a
// pass, before all can be merged at once in memory bytes for the last one; 0 if they
// can be. The runs are brought into ascending order of size, so that little is
// copied; a first pass that is not full makes the later ones full (Knuth, section 5.4.9).
func firstPass(runs []*sortedRun, pass, last int64, fan int) int {
	slices.SortStableFunc(runs, func(a, b *sortedRun) int { return cmp.Compare(a.extent.length, b.extent.length) })
	largest := slices.Clone(runs)
	slices.Reverse(largest)
	atOnce := fits(largest, last, fan)
	if atOnce >= len(runs) {
		return 0
	}
	return max(2, min(fits(runs, pass, fan), len(runs)-atOnce+1))
}

// passBytes returns how many bytes all passes before the last one will read.
func passBytes(runs []*sortedRun, pass, last int64, fan int) int64 {
	left := slices.Clone(runs)
	var sum int64
	for {
		n := firstPass(left, pass, last, fan)
		if n == 0 {
			return sum
		}
		one := &sortedRun{}
		for _, r := range left[:n] {
			one.extent.length += r.extent.length
			one.stat.maxRaw = max(one.stat.maxRaw, r.stat.maxRaw)
		}
		sum += one.extent.length
		left = append(left[n:], one)
	}
}
