package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"berth/internal/core/job"
)

// Shortage is a resource of which a node has too little free for a phase. Amounts are in the unit of a job.Vector.
type Shortage struct {
	Resource job.Resource
	Need     int64 // demand of one attempt in that phase
	Free     int64 // free on the node; negative if more is in use than the node has
	Holders  []Holder
}

// Holder is Count attempts of a job in one phase that together hold Holds of a resource. The largest holders come first.
type Holder struct {
	Job   job.ID // empty: the job that is explained
	Phase job.Phase
	Count int
	Holds int64
	// Waits says that these attempts wait to enter Phase as well, and hold what they must keep until then.
	Waits bool
}

// resourceWords are the names of resources, by job.Resource.
var resourceWords = [...]struct{ name, is, has string }{
	{"cores", "are", "have"}, {"memory", "is", "has"}, {"disk", "is", "has"}, {"network", "is", "has"},
	{"GPUs", "are", "have"},
}

// Waits returns how many attempts wait on a node to enter a phase, and for what.
func Waits(count int, phase job.Phase, node job.NodeID, lacks []Shortage) string {
	begin, _ := phase.Words()
	scarce := ""
	if len(lacks) > 0 {
		scarce = ": " + Lacks(lacks)
	}
	return With("%s %s on %s%s", Do(count, phase.Kind().String(), "wait"), begin, node, scarce)
}

// Lacks describes the resources of which a node has too little, and their users.
func Lacks(lacks []Shortage) string {
	texts := make([]string, len(lacks))
	for i, l := range lacks {
		texts[i] = l.text()
	}
	return strings.Join(texts, "; ")
}

func (l Shortage) text() string {
	words := resourceWords[l.Resource]
	what := fmt.Sprintf("%s too little free", words.has)
	if len(l.Holders) > 0 {
		what = fmt.Sprintf("%s in use by %s", words.is, users(l.Holders))
	}
	return fmt.Sprintf("its %s %s (%s needed for each, %s free)", words.name, what, amount(l.Resource, l.Need), amount(l.Resource, max(0, l.Free)))
}

// amount writes an amount of a resource, given in the unit of a job.Vector: "1.5 cores", "150M", "20M/s", "2 GPUs", "0.5 GPUs".
func amount(r job.Resource, n int64) string {
	switch r {
	case job.CPU:
		cores := strconv.FormatFloat(math.Round(float64(n)/10)/100, 'f', -1, 64) + " core"
		if n == job.Milli {
			return cores
		}
		return cores + "s"
	case job.Memory:
		return job.FormatSize(n)
	case job.GPU:
		if n == job.Milli {
			return "1 GPU"
		}
		return job.Vector{GPU: n}.GPUFigure() + " GPUs"
	default:
		return job.FormatSize(n) + "/s"
	}
}

// users names the users of a resource, with "and" before the last.
func users(hs []Holder) string {
	const most = 4
	var words []string
	for _, h := range hs[:min(most, len(hs))] {
		words = append(words, h.text())
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

// text names attempts of one job that use a resource: "2 merges of mr-7".
func (h Holder) text() string {
	begin, in := h.Phase.Words()
	of := "this job"
	if h.Job != "" {
		of = string(h.Job)
	}
	if h.Waits {
		return fmt.Sprintf("%s of %s that %s %s", job.Count(h.Count, h.Phase.Kind().String()), of, Verb(h.Count, "wait"), begin)
	}
	return job.Count(h.Count, in) + " of " + of
}
