package parse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// MaxEntries is the largest number of tasks of a bag. With it, a mistake in --array or a
// large product of lists is an error before it fills the memory.
const MaxEntries = 10_000_000

// maxIndex is the largest array index: the largest value that Slurm allows for MaxArraySize.
const maxIndex = 1<<31 - 2

// Indices is a parsed --array: the indices in rising order without repetition, and the
// largest number of tasks that run at the same time (0: no limit).
type Indices struct {
	Numbers  []int
	Throttle int
}

// Array parses array indices as sbatch's --array does: "1-10", "0-10:2" (step),
// "1,5-8", and "%5" after them (at most five tasks at the same time). where is the flag or
// file:line that an error names.
func Array(where, s string) (Indices, error) {
	var a Indices
	list, limit, throttled := strings.Cut(strings.TrimSpace(s), "%")
	if throttled {
		n, ok := arrayNumber(limit)
		if !ok || n < 1 {
			return Indices{}, arrayError(where, s, fmt.Sprintf("%q after %% is not a number of tasks", limit))
		}
		a.Throttle = n
	}
	for _, part := range strings.Split(list, ",") {
		first, last, step, what := arrayRange(part)
		if what == "" && (last-first)/step+1 > MaxEntries-len(a.Numbers) {
			what = fmt.Sprintf("more than %d tasks", MaxEntries)
		}
		if what != "" {
			return Indices{}, arrayError(where, s, what)
		}
		for i := first; i <= last; i += step {
			a.Numbers = append(a.Numbers, i)
		}
	}
	slices.Sort(a.Numbers)
	a.Numbers = slices.Compact(a.Numbers)
	return a, nil
}

// Entries returns the indices as entries of a bag.
func (a Indices) Entries() []job.Entry {
	columns := make([]string, len(a.Numbers))
	var text strings.Builder // of which the columns are parts, as it takes less than a text for each
	if len(a.Numbers) > 0 {
		text.Grow(len(a.Numbers) * len(strconv.Itoa(a.Numbers[len(a.Numbers)-1])))
	}
	for i, n := range a.Numbers {
		before := text.Len()
		text.WriteString(strconv.Itoa(n))
		columns[i] = text.String()[before:]
	}
	return OneColumn(columns)
}

// OneColumn returns one entry with a single column for each value. The entries share the memory of values.
func OneColumn(values []string) []job.Entry {
	entries := make([]job.Entry, len(values))
	for i := range values {
		entries[i] = values[i : i+1 : i+1]
	}
	return entries
}

// arrayRange reads "7", "1-10" or "0-10:2". what is the error, or empty.
func arrayRange(part string) (first, last, step int, what string) {
	bounds, stepText, stepped := strings.Cut(part, ":")
	low, high, ranged := strings.Cut(bounds, "-")
	if !ranged {
		high = low
	}
	first, okFirst := arrayNumber(low)
	last, okLast := arrayNumber(high)
	switch {
	case part == "":
		return 0, 0, 1, "an index is missing"
	case !okFirst || !okLast:
		return 0, 0, 1, fmt.Sprintf("%q is not an index or a range (to name a file use each-line)", part)
	case first > last:
		return 0, 0, 1, fmt.Sprintf("the range %q ends before it begins", part)
	case !stepped:
		return first, last, 1, ""
	case !ranged:
		return 0, 0, 1, fmt.Sprintf("%q has a step but no range", part)
	}
	step, ok := arrayNumber(stepText)
	if !ok || step < 1 {
		return 0, 0, 1, fmt.Sprintf("%q is not a step", stepText)
	}
	return first, last, step, ""
}

func arrayNumber(s string) (int, bool) {
	if !isDigits(s) {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n <= maxIndex
}

func arrayError(where, s, what string) error {
	return job.ConfigError(where, fmt.Sprintf("%q: %s", s, what), "write indices as in 1-10, 0-10:2, 1,5-8 or 1-100%5")
}
