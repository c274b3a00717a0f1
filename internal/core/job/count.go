package job

import "strconv"

// FormatCount writes a whole number for people, with commas between thousands: "12,345".
func FormatCount(n int) string {
	digits := strconv.Itoa(n)
	first := 0
	if n < 0 {
		first = 1
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
