package parse

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
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

func parseSize(where, s string, unit int64, plainName string) (int64, error) {
	m := sizeForm().FindStringSubmatch(strings.ToUpper(strings.TrimSpace(s)))
	if m == nil {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a size", s),
			"write a number and a unit, as in 512M, 4G or 1.5T; a number without a unit is "+plainName)
	}
	switch {
	case m[2] == "B":
		unit = 1
	case m[2] != "":
		unit = 1 << (10 * (1 + strings.Index(sizeUnits, m[2][:1])))
	}
	if n, err := strconv.ParseInt(m[1], 10, 64); err == nil && n <= math.MaxInt64/unit {
		return n * unit, nil
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if err != nil || f*float64(unit) >= math.MaxInt64 {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is too large", s), "write a smaller size; no machine has this much")
	}
	return int64(math.Round(f * float64(unit))), nil
}

// sizeForm is a number and a unit.
var sizeForm = pattern.Lazy(`^(\d+(?:\.\d+)?)(B|[` + sizeUnits + `](?:I?B)?)?$`)

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}
