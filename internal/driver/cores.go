package driver

import (
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// BatchCores is how many cores of a host a batch job has, and the variable of its environment that says so. The zero value
// is for a process in no batch job.
type BatchCores struct {
	N        int
	Variable string
}

// Least lowers the number to n if a variable says n. Zero says nothing.
func (c *BatchCores) Least(variable string, n int) {
	if n > 0 && (c.Variable == "" || n < c.N) {
		c.N, c.Variable = n, variable
	}
}

// Number returns the number with which the value of a variable begins, or 0.
func Number(env []string, name string) int { return LeadingNumber(job.Getenv(env, name)) }

// LeadingNumber returns the number with which a text begins, as in 8(x2), or 0.
func LeadingNumber(text string) int {
	n, _ := strconv.Atoi(text[:len(text)-len(strings.TrimLeft(text, "0123456789"))])
	return n
}
