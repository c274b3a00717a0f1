package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// fill is a job of other users: a number of nodes for some time, with a request that is longer than
// the run, as is usual.
type fill struct {
	copies int
	nodes  int
	cpus   int           // of each node
	real   time.Duration // run time
	limit  time.Duration // requested wall time
	at     time.Duration // submission after that of the job under test; 0: before it
}

var fillText = regexp.MustCompile(`^(?:(\d+)× )?(\d+)n(?::(\d+))? (\d+)s/(\d+)m(?: @(\d+)s)?$`)

// parseFills parses jobs in the notation of the script, separated by commas, in the order of
// submission: "3× 2n:1 40s/5m @10s" is three jobs of 2 nodes with 1 CPU of each, which run for 40 s,
// request 5 min, and are submitted 10 s after the job under test. Without ":1" they use all CPUs of
// a node.
func parseFills(text string) ([]fill, error) {
	var fills []fill
	if text == "" {
		return nil, nil
	}
	for _, t := range strings.Split(text, ", ") {
		m := fillText.FindStringSubmatch(t)
		if m == nil {
			return nil, fmt.Errorf("%q is not in the notation of the script", t)
		}
		f := fill{copies: number(m[1], 1), nodes: number(m[2], 0), cpus: number(m[3], cpusPerNode),
			real: seconds(number(m[4], 0)), limit: time.Duration(number(m[5], 0)) * time.Minute, at: seconds(number(m[6], 0))}
		if f.nodes < 1 || f.nodes > clusterNodes || f.cpus < 1 || f.cpus > cpusPerNode || f.real > f.limit {
			return nil, fmt.Errorf("%q does not fit the cluster or its own limit", t)
		}
		fills = append(fills, f)
	}
	return fills, nil
}

// number parses digits that the regular expression has matched.
func number(digits string, missing int) int {
	if digits == "" {
		return missing
	}
	n, err := strconv.Atoi(digits)
	if err != nil {
		return missing
	}
	return n
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// sleep is the argument of the program that such a job runs.
func (f fill) sleep() string { return strconv.Itoa(int(f.real.Seconds())) }

// clock formats the requested wall time as "00:05:00".
func (f fill) clock() string { return clock(f.limit) }

func clock(d time.Duration) string {
	s := int(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}
