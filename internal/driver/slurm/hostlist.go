package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// maxHosts bounds the number of names in a host list, and maxBrackets the brackets of a name, far beyond any cluster. More are an error:
// to write them out takes long.
const (
	maxHosts    = 1 << 16
	maxBrackets = 8
)

// expandHosts returns the names in a host list, in its order:
// "n[1-3,07],gpu[01-02]-ib" is n1, n2, n3, n07, gpu01-ib, gpu02-ib. A range is padded with zeros to the width of
// its first number. Several brackets in a name are combined; the last one changes fastest.
func expandHosts(list string) ([]string, error) {
	var names []string
	heads, brackets := []string{""}, 0 // what was read of the present name, in all combinations
	for rest := given(list) + ","; rest != ""; {
		at := strings.IndexAny(rest, ",[]")
		sign, text := rest[at], rest[:at]
		heads, rest = multiply(heads, []string{text}), rest[at+1:]
		ranges, after, closed := strings.Cut(rest, "]")
		switch {
		case sign == ',' && heads[0] == "":
		case sign == ',':
			names, heads, brackets = append(names, heads...), []string{""}, 0
		case sign == ']' || !closed:
			return nil, fmt.Errorf("host list %.100q: a bracket has no other", list)
		case brackets == maxBrackets:
			return nil, fmt.Errorf("host list %.100q: a name has more than %d brackets", list, maxBrackets)
		default:
			tails, err := expandRanges(ranges, (maxHosts-len(names))/len(heads))
			if err != nil {
				return nil, fmt.Errorf("host list %.100q: %w", list, err)
			}
			heads, rest, brackets = multiply(heads, tails), after, brackets+1
		}
	}
	return names, nil
}

// multiply returns each head with each tail.
func multiply(heads, tails []string) []string {
	if len(tails) == 1 && tails[0] == "" {
		return heads
	}
	all := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	return all
}

// expandRanges returns each number of ranges, such as "1-3,07".
func expandRanges(ranges string, limit int) ([]string, error) {
	var names []string
	for r := range strings.SplitSeq(ranges, ",") {
		first, last, ranged := strings.Cut(r, "-")
		if !ranged {
			last = first
		}
		a, okA := digits(first)
		b, okB := digits(last)
		if !okA || !okB || b < a {
			return nil, fmt.Errorf("%.100q is not a range of numbers", r)
		}
		if b-a >= int64(limit-len(names)) {
			return nil, fmt.Errorf("it has more than %d names", maxHosts)
		}
		for n := a; n <= b; n++ {
			s := strconv.FormatInt(n, 10)
			names = append(names, strings.Repeat("0", max(0, len(first)-len(s)))+s)
		}
	}
	return names, nil
}
