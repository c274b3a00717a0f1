package job

import (
	"math"
	"strconv"
	"strings"
)

// sizeUnits are the binary units that sizes are written in.
const sizeUnits = "KMGTPE"

// FormatSize writes a number of bytes for people, with three significant digits at
// most: "512B", "1.5G", "10G". parse.Size reads the text back, with an error of at most 0.5 %.
func FormatSize(bytes int64) string {
	if bytes < 0 {
		return "-" + FormatSize(-max(bytes, -math.MaxInt64))
	}
	if bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + "B"
	}
	value, power := float64(bytes)/1024, 0
	for value >= 1023.5 && power < len(sizeUnits)-1 {
		value, power = value/1024, power+1
	}
	precision := 0
	switch {
	case value < 9.995:
		precision = 2
	case value < 99.95:
		precision = 1
	}
	number := strconv.FormatFloat(value, 'f', precision, 64)
	if precision > 0 {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number + sizeUnits[power:power+1]
}
