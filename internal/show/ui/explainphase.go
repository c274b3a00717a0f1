package ui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/explain"
	"berth/internal/core/job"
)

// phaseWords are the words for attempts that wait for a phase or are in it.
var phaseWords = map[job.Phase]struct{ task, begin, in string }{
	job.PhaseFetch:   {"task", "to fetch", "fetching task"},
	job.PhaseCompute: {"task", "to compute", "computing task"},
	job.PhaseStore:   {"task", "to store", "storing task"},
	job.PhaseMap:     {"map", "to begin", "map"},
	job.PhaseMerge:   {"map", "to merge", "merge"},
	job.PhaseShuffle: {"reduce", "to shuffle", "shuffle"},
	job.PhaseSort:    {"reduce", "to sort", "sort"},
	job.PhaseReduce:  {"reduce", "to reduce", "reduce"},
}

// phaseReason describes what attempts on a node wait for before their next phase, and which attempts use it.
func phaseReason(r explain.Reason) string {
	words := phaseWords[r.Phase]
	s := fmt.Sprintf("%s %s on %s", count(r.Count, words.task)+verb(r.Count, " wait"), words.begin, r.Nodes[0].ID)
	if len(r.Shortages) == 0 {
		return s
	}
	return s + ": " + lacksText(r.Shortages)
}

// lacksText describes the resources of which a node has too little, and their users.
func lacksText(lacks []explain.Shortage) string {
	var texts []string
	for _, l := range lacks {
		texts = append(texts, lackText(l))
	}
	return strings.Join(texts, "; ")
}

// lackText describes one resource of which a node has too little.
func lackText(l explain.Shortage) string {
	name, verb := resourceWords(l.Resource)
	enough := fmt.Sprintf("%s needed for each, %s free", resourceAmount(l.Resource, l.Need), resourceAmount(l.Resource, max(0, l.Free)))
	if len(l.Holders) == 0 {
		return fmt.Sprintf("its %s %s too little free (%s)", name, verb, enough)
	}
	use := "is"
	if l.Resource == job.CPU {
		use = "are"
	}
	return fmt.Sprintf("its %s %s in use by %s (%s)", name, use, holders(l.Holders), enough)
}

// resourceWords returns the name of a resource and the form of "to have" for it.
func resourceWords(r job.Resource) (name, has string) {
	switch r {
	case job.CPU:
		return "cores", "have"
	case job.Memory:
		return "memory", "has"
	case job.Disk:
		return "disk", "has"
	default:
		return "network", "has"
	}
}

// resourceAmount writes an amount of a resource, given in the unit of a job.Vector: "1.5 cores", "150M", "20M/s".
func resourceAmount(r job.Resource, n int64) string {
	switch r {
	case job.CPU:
		cores := strconv.FormatFloat(math.Round(float64(n)/10)/100, 'f', -1, 64)
		if n == job.MilliCore {
			return cores + " core"
		}
		return cores + " cores"
	case job.Memory:
		return size(n)
	default:
		return size(n) + "/s"
	}
}

// holders names the users of a resource, with "and" before the last.
func holders(hs []explain.Holder) string {
	const most = 4
	var words []string
	for _, h := range hs[:min(most, len(hs))] {
		words = append(words, holderText(h))
	}
	if n := len(hs) - most; n > 0 {
		words = append(words, fmt.Sprintf("%d more groups of attempts", n))
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// holderText names attempts of one job that use a resource: "2 merges of mr-7".
func holderText(h explain.Holder) string {
	words, of := phaseWords[h.Phase], "this job"
	if h.Job != "" {
		of = string(h.Job)
	}
	if h.Waits {
		return fmt.Sprintf("%s of %s that %s", count(h.Count, words.task), of, verb(h.Count, "wait")+" "+words.begin)
	}
	return count(h.Count, words.in) + " of " + of
}
