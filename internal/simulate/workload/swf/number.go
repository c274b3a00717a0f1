package swf

import (
	"math"
	"strconv"
)

// number is the value of a field: whole + nano/1e9, both of the same sign.
type number struct {
	whole int64
	nano  int32
}

// maxWhole is the largest value of a field, which fits 64 bits as nanoseconds.
const maxWhole = math.MaxInt64/1_000_000_000 - 1

// rounded returns the nearest whole number.
func (n number) rounded() int64 {
	return n.whole + int64(n.nano/500_000_000)
}

// parse parses a field with a sign, a fraction or an exponent. Fractions are rounded to nine digits.
func parse(b []byte) (number, bool) {
	digits := b
	negative := false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	n, rest, ok := decimal(digits)
	if ok && len(rest) > 0 {
		n, ok = scientific(digits)
	}
	if n.nano >= 1_000_000_000 {
		n = number{whole: n.whole + 1}
	}
	if negative {
		n = number{-n.whole, -n.nano}
	}
	return n, ok
}

// decimal parses digits with at most one decimal point and returns the text after them.
func decimal(b []byte) (n number, rest []byte, ok bool) {
	i := 0
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		n.whole = n.whole*10 + int64(b[i]-'0')
		if n.whole > maxWhole {
			return number{}, nil, false
		}
	}
	seen := i
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		for scale := int32(100_000_000); i < len(b) && b[i]-'0' <= 9; i++ {
			n.nano += int32(b[i]-'0') * scale
			scale /= 10
		}
		seen += i - point
		if i-point > 9 && b[point+9] >= '5' {
			n.nano++
		}
	}
	return n, b[i:], seen > 0
}

// scientific parses a number with an exponent that begins with a digit or a decimal point, as
// statistics programs write large numbers.
func scientific(digits []byte) (number, bool) {
	for _, c := range digits {
		// ParseFloat accepts hexadecimal numbers as well.
		if c-'0' > 9 && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return number{}, false
		}
	}
	f, err := strconv.ParseFloat(string(digits), 64)
	if err != nil || f > maxWhole {
		return number{}, false
	}
	whole, fraction := math.Modf(f)
	return number{int64(whole), int32(math.Round(fraction * 1e9))}, true
}
