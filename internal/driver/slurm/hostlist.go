package slurm

import (
	"fmt"
	"strconv"
	"strings"
)

// maxHosts bounds the number of names in a host list. A longer list is an error.
const maxHosts = 1 << 20

// expandHosts returns the names in a host list, in its order:
// "n[1-3,07],gpu[01-02]-ib" is n1, n2, n3, n07, gpu01-ib, gpu02-ib. A range is padded with zeros to the width of
// its first number. Several brackets in a name are combined; the last one changes fastest.
func expandHosts(list string) ([]string, error) {
	if isNone(list) {
		return nil, nil
	}
	var names []string
	for item, rest := nextHosts(list); item != "" || rest != ""; item, rest = nextHosts(rest) {
		more, err := expandItem(item, maxHosts-len(names))
		if err != nil {
			return nil, fmt.Errorf("host list %.100q: %w", list, err)
		}
		names = append(names, more...)
	}
	return names, nil
}

// nextHosts splits a list at its first comma that is not in brackets.
func nextHosts(list string) (item, rest string) {
	depth := 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth++
		case ']':
			depth--
		case ',':
			if depth == 0 {
				return list[:i], list[i+1:]
			}
		}
	}
	return list, ""
}

// expandItem expands one name with any number of brackets to at most limit names.
func expandItem(item string, limit int) ([]string, error) {
	names := []string{""}
	for item != "" {
		open := strings.IndexByte(item, '[')
		if open < 0 {
			open = len(item)
		}
		if strings.IndexByte(item[:open], ']') >= 0 {
			return nil, fmt.Errorf("%.100q has a closing bracket without an opening one", item)
		}
		parts := []string{item[:open]}
		item = item[open:]
		if item != "" {
			end := strings.IndexByte(item, ']')
			if end < 0 {
				return nil, fmt.Errorf("%.100q has no closing bracket", item)
			}
			var err error
			if parts, err = expandRanges(parts[0], item[1:end], limit); err != nil {
				return nil, err
			}
			item = item[end+1:]
		}
		if len(names)*len(parts) > limit {
			return nil, fmt.Errorf("it has more than %d names", maxHosts)
		}
		names = multiply(names, parts)
	}
	if len(names) == 1 && names[0] == "" {
		return nil, nil
	}
	return names, nil
}

func multiply(heads, tails []string) []string {
	if len(heads) == 1 && heads[0] == "" {
		return tails
	}
	all := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			all = append(all, h+t)
		}
	}
	return all
}

// expandRanges returns prefix followed by each number of ranges, such as "1-3,07".
func expandRanges(prefix, ranges string, limit int) ([]string, error) {
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
			names = append(names, prefix+strings.Repeat("0", max(0, len(first)-len(s)))+s)
		}
	}
	return names, nil
}
