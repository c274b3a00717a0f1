package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// sizeUnits are the letters of the binary units of sizes, as in sbatch and sort.
const sizeUnits = "KMGTPE"

// Size parses a size in bytes: "1024", "512M", "1.5G", with K, M, G, T, P or E
// (binary: 1K is 1024) in either case, optionally followed by B or iB. A plain
// number is bytes. where is the flag or file:line that an error names.
func Size(where, s string) (int64, error) {
	return parseSize(where, s, 1, "bytes")
}

// Mem parses an amount of memory as sbatch's --mem does: as Size, but a
// plain number is in megabytes.
func Mem(where, s string) (int64, error) {
	return parseSize(where, s, 1<<20, "megabytes")
}

func parseSize(where, s string, plain int64, plainName string) (int64, error) {
	number, unit, ok := splitSize(strings.TrimSpace(s), plain)
	if !ok {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a size", s),
			"write a number and a unit, as in 512M, 4G or 1.5T; a number without a unit is "+plainName)
	}
	// Whole numbers stay exact; a float64 would lose bytes beyond 2^53.
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		if n > math.MaxInt64/unit {
			return 0, sizeTooLarge(where, s)
		}
		return n * unit, nil
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || f*float64(unit) >= math.MaxInt64 {
		return 0, sizeTooLarge(where, s)
	}
	return int64(math.Round(f * float64(unit))), nil
}

func sizeTooLarge(where, s string) error {
	return job.ConfigError(where, fmt.Sprintf("%q is too large", s), "write a smaller size; no machine has this much")
}

// splitSize splits a size into its number, checked to be digits with at most one
// point between them, and its unit in bytes.
func splitSize(s string, plain int64) (number string, unit int64, ok bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		return s, plain, isDecimal(s)
	}
	number, suffix := s[:end], strings.ToUpper(s[end:])
	if suffix == "B" {
		return number, 1, isDecimal(number)
	}
	power := strings.IndexByte(sizeUnits, suffix[0])
	if power < 0 || (suffix[1:] != "" && suffix[1:] != "B" && suffix[1:] != "IB") {
		return "", 0, false
	}
	return number, 1 << (10 * (power + 1)), isDecimal(number)
}

// isDecimal reports whether s is digits, or digits, a point and digits.
func isDecimal(s string) bool {
	whole, fraction, point := strings.Cut(s, ".")
	return isDigits(whole) && (!point || isDigits(fraction))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
