package batch

import "math"

// absent is the value of a place of a lows that holds nothing.
const absent = math.MaxInt64

// lows is a row of values with their least ones, block by block and blocks of blocks, so
// that the first value that is low enough is found without a walk along the row. Rows of
// up to span values, the usual ones, are a single block that is scanned.
type lows struct {
	// levels[0] is the row; levels[k][i] is the least of block i of levels[k-1]. All are
	// whole blocks; the last is one block.
	levels [][]int64
}

// span is how many values a block has: two cache lines.
const (
	span  = 1 << shift
	shift = 4
)

// newLows returns a row of n places at least, all absent.
func newLows(n int) lows {
	var l lows
	for {
		n = (n + span - 1) >> shift
		level := make([]int64, n<<shift)
		for i := range level {
			level[i] = absent
		}
		l.levels = append(l.levels, level)
		if n <= 1 {
			return l
		}
	}
}

// set changes a value.
func (l *lows) set(i int, v int64) {
	was := l.levels[0][i]
	l.levels[0][i] = v
	for k := 1; k < len(l.levels); k++ {
		b := i >> shift
		up := &l.levels[k][b]
		switch {
		case v <= *up:
			was, *up = *up, v
		case was > *up: // another one is the least
			return
		default:
			v = least(l.levels[k-1][b<<shift : (b+1)<<shift])
			if v == *up {
				return
			}
			was, *up = *up, v
		}
		i = b
	}
}

// least returns the least of some values, absent for none.
func least(values []int64) int64 {
	low := int64(absent)
	for _, v := range values {
		low = min(low, v)
	}
	return low
}

// next returns the first place from one on that holds no more than most, which is less
// than absent; -1: there is none.
func (l *lows) next(from int, most int64) int {
	i := from
	for k, level := range l.levels {
		if i >= len(level) {
			return -1
		}
		for d, v := range level[i : (i>>shift+1)<<shift] {
			if v <= most {
				return l.descend(k, i+d, most)
			}
		}
		i = i>>shift + 1
	}
	return -1
}

// descend returns the first place below one of a level that holds no more than most.
func (l *lows) descend(k, i int, most int64) int {
	for k--; k >= 0; k-- {
		i <<= shift
		for d, v := range l.levels[k][i : i+span] {
			if v <= most {
				i += d
				break
			}
		}
	}
	return i
}

// before returns the least of the first n values, or of all if there are fewer.
func (l *lows) before(n int) int64 {
	if n >= len(l.levels[0]) {
		return l.min()
	}
	low := int64(absent)
	for _, level := range l.levels {
		block := n >> shift
		low = min(low, least(level[block<<shift:n]))
		n = block
	}
	return low
}

// min returns the least value of all.
func (l *lows) min() int64 { return least(l.levels[len(l.levels)-1]) }
