package job

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
)

// Progress is how far a running attempt has come, by what could be observed of it.
type Progress struct {
	Attempt Attempt        `msgpack:"a"`
	Source  ProgressSource `msgpack:"s"`
	// N counts since the attempt began, in the source's unit: function entries (hits), bytes read of its input (input),
	// bytes read and written (io), seconds of processor time (cpu). It never falls while the source stays the same.
	N float64 `msgpack:"n"`
	// Fraction is the part of a known input that is read, 0…1; −1: unknown.
	Fraction float64       `msgpack:"f"`
	CPU      time.Duration `msgpack:"c"` // processor time since the attempt began
}

// Check reports a value that no berth sends: it may come from a worker.
func (p *Progress) Check() error {
	switch {
	case int(p.Source) >= len(progressNames):
		return fmt.Errorf("progress of %v has an unknown source %d", p.Attempt, p.Source)
	case !(p.N >= 0 && p.N <= math.MaxFloat64) || !(p.Fraction >= -1 && p.Fraction <= 1) || p.CPU < 0:
		return fmt.Errorf("impossible progress of %v: %g, fraction %g, processor time %v", p.Attempt, p.N, p.Fraction, p.CPU)
	}
	return nil
}

// ProgressSource is what the progress of an attempt is measured by.
type ProgressSource uint8

// The sources, the best first for a program that computes: what is nearest to its work.
const (
	ProgressNone  ProgressSource = iota // nothing is known
	ProgressHits                        // entries of planted functions
	ProgressInput                       // bytes of an input of known size
	ProgressIO                          // bytes read and written
	ProgressCPU                         // processor time
)

var progressNames = [...]string{"none", "hits", "input", "io", "cpu"}

// String returns the source's name in lower case.
func (s ProgressSource) String() string {
	if int(s) < len(progressNames) {
		return progressNames[s]
	}
	return "unknown"
}

// MarshalJSON writes the source's name. (MarshalText would do for JSON, and have MessagePack write the name as well.)
func (s ProgressSource) MarshalJSON() ([]byte, error) {
	if int(s) >= len(progressNames) {
		return nil, fmt.Errorf("progress source %d does not exist", s)
	}
	return json.Marshal(progressNames[s])
}

// UnmarshalJSON takes the name of a source.
func (s *ProgressSource) UnmarshalJSON(text []byte) error {
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	i := slices.Index(progressNames[:], name)
	if i < 0 {
		return fmt.Errorf("%q is no source of progress; there are hits, input, io, cpu and none", name)
	}
	*s = ProgressSource(i)
	return nil
}
