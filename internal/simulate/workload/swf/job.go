package swf

import (
	"math"
	"strconv"
	"strings"
	"time"

	"berth/internal/simulate/workload"
)

// UnknownTime is an unknown time. Other unknown fields are -1, too.
const UnknownTime = -time.Second

// The fields of a line, see the documentation of the package.
const (
	Number = iota
	Submit
	Wait
	Run
	Procs
	CPU
	Mem
	ReqProcs
	Request
	ReqMem
	Status
	UserID
	Group
	App
	Queue
	Partition
	After
	Think
)

// Fields are the fields of a line, each taken as a number of seconds.
type Fields [Think + 1]time.Duration

// Job is a line of a log.
type Job struct {
	Fields
	Line int32 // counted from 1
}

// Log is the contents of a log. Comments between the jobs are part of the header.
type Log struct {
	Name   string // of its file, for messages
	Header Header
	Jobs   []Job
	// Skipped are the odd lines that were left out, in the order in which they were found.
	Skipped []workload.Odd
	// Filtered is the number of jobs left out by a filter.
	Filtered int
}

// Header is the comment lines of a log with their semicolons, in order.
type Header []string

// Get returns the value of the first line "; Key: value" with the given key, ignoring case.
func (h Header) Get(key string) (string, bool) {
	for _, line := range h {
		k, v, ok := strings.Cut(strings.TrimLeft(line, "; \t"), ":")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// Procs returns the number of processors of the cluster: MaxProcs or MaxNodes, or 0 if the header
// has neither.
func (h Header) Procs() int {
	for _, key := range []string{"MaxProcs", "MaxNodes"} {
		v, _ := h.Get(key)
		// Some logs have an explanation after the number.
		if f := strings.Fields(v); len(f) > 0 {
			if n, err := strconv.Atoi(f[0]); err == nil && n > 0 && n <= math.MaxInt32 {
				return n
			}
		}
	}
	return 0
}
