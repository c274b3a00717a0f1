package ui

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"berth/internal/core/job"
	"berth/internal/hits/plant"
)

// TraceJSON is the JSON form of berth trace stats.
type TraceJSON struct {
	Functions []TraceFunction   `json:"functions"`                  // functions that were entered, those with most hits first; `--all`: all that were counted
	Orders    []TraceOrder      `json:"orders"`                     // the counted functions by the magnitude of `hits`, the largest first
	Planted   int               `json:"planted"`                    // functions that were counted
	LeftOut   map[string]int    `json:"left_out"`                   // number of functions that were not counted, by reason
	Exit      int               `json:"exit"`                       // exit code of the program; −1 where a signal ended it
	Signal    int               `json:"signal,omitempty"`           // that signal
	Hits      uint64            `json:"hits"`                       // sum over all functions
	Programs  int               `json:"programs"`                   // how many executed programs were planted: a shell is one, and what it starts another
	Standing  float64           `json:"planting_ms"`                // how long the programs were stopped for planting, in all, milliseconds
	Objects   map[string]string `json:"objects_left_out,omitempty"` // why objects were left out as a whole, by path
	NotHere   string            `json:"not_here,omitempty"`         // why no function of a program was counted, for the last such program
}

// TraceFunction is one function.
type TraceFunction struct {
	Name   string `json:"name"`   // `0x…`, its address in the object, if it has no symbol
	Object string `json:"object"` // path of the program or library
	Entry  string `json:"entry"`  // its address in the object, `0x…`
	Hits   uint64 `json:"hits"`   // how often it was entered, in all threads and processes
}

// TraceOrder is the functions that were entered From times or more, and fewer than ten times as often.
type TraceOrder struct {
	From      uint64 `json:"from"`      // a power of ten, the least hits of such a function; 0: it was never entered
	Functions int    `json:"functions"` // how many there are
	Example   string `json:"example"`   // that with most hits
}

// order counts a function, which has no more hits than those before it.
func (v *TraceJSON) order(name string, hits uint64) {
	from := uint64(min(hits, 1))
	for hits >= 10*from && from > 0 && from < 1e18 {
		from *= 10
	}
	if n := len(v.Orders); n == 0 || v.Orders[n-1].From != from {
		v.Orders = append(v.Orders, TraceOrder{From: from, Example: name})
	}
	v.Orders[len(v.Orders)-1].Functions++
}

// TraceStats returns the counts of a session; all: with the functions that were never entered.
func TraceStats(s *plant.Session, status unix.WaitStatus, all bool) *TraceJSON {
	v := &TraceJSON{Functions: []TraceFunction{}, Orders: []TraceOrder{}, LeftOut: map[string]int{}, Exit: status.ExitStatus(), Objects: s.ObjectsLeft(), NotHere: s.Why()}
	if status.Signaled() {
		v.Signal = int(status.Signal())
	}
	for _, f := range s.Functions() {
		v.Planted++
		v.Hits += f.Hits
		v.order(f.Name, f.Hits)
		if f.Hits > 0 || all {
			v.Functions = append(v.Functions, TraceFunction{f.Name, f.Object, fmt.Sprintf("%#x", f.Entry), f.Hits})
		}
	}
	for why, n := range s.Left() {
		v.LeftOut[string(why)] = n
	}
	programs, standing := s.Planted()
	v.Programs, v.Standing = programs, float64(standing.Microseconds())/1000
	return v
}

// Print prints the result for people.
func (v *TraceJSON) Print(w io.Writer) error {
	var b strings.Builder
	t := newTable("HITS>", "FUNCTION", "OBJECT")
	for _, f := range v.Functions {
		t.add(job.FormatCount(int(f.Hits)), f.Name, f.Object)
	}
	if len(v.Functions) > 0 {
		orders := newTable("HITS FROM>", "FUNCTIONS>", "WITH MOST HITS")
		for _, o := range v.Orders {
			orders.add(job.FormatCount(int(o.From)), job.FormatCount(o.Functions), o.Example)
		}
		b.WriteString(t.String() + "\n" + orders.String() + "\n")
	}
	fmt.Fprintf(&b, "%s hits of %d functions; %d functions in %d programs got counters, for which the programs were paused for %.1f ms\n",
		job.FormatCount(int(v.Hits)), len(v.Functions), v.Planted, v.Programs, v.Standing)
	reasons := slices.SortedFunc(maps.Keys(v.LeftOut), func(x, y string) int {
		return cmp.Or(cmp.Compare(v.LeftOut[y], v.LeftOut[x]), cmp.Compare(x, y))
	})
	for _, why := range reasons {
		fmt.Fprintf(&b, "left out: %d, %s\n", v.LeftOut[why], why)
	}
	for _, p := range slices.Sorted(maps.Keys(v.Objects)) {
		fmt.Fprintf(&b, "left out: all of %s: %s\n", p, v.Objects[p])
	}
	if v.NotHere != "" {
		fmt.Fprintf(&b, "a program was not counted: %s\n", v.NotHere)
	}
	return put(w, b.String())
}
