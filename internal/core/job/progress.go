package job

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Progress is the observed progress of a running attempt.
type Progress struct {
	Attempt Attempt        `msgpack:"a"`
	Source  ProgressSource `msgpack:"s"`
	// N is the count since the attempt began, in the unit of Source: function entries (hits), bytes read of the input (input),
	// instructions (instructions), bytes read and written (io), seconds of processor time (cpu). It never decreases while the
	// source stays the same.
	N float64 `msgpack:"n"`
	// Fraction is the part of the input that has been read, from 0 to 1; −1: the size of the input is unknown.
	Fraction float64       `msgpack:"f"`
	CPU      time.Duration `msgpack:"c"` // processor time since the attempt began
	// Age is how long the attempt had run when this was measured; 0: it was measured just now.
	Age time.Duration `msgpack:"g,omitempty"`
	// Idle says that the attempt's programs have ended, and that what they have left has done nothing for a while.
	Idle bool `msgpack:"i,omitempty"`
}

// Check reports invalid values, because they may come from a worker.
func (p *Progress) Check() error {
	switch {
	case p.Source >= ProgressSources:
		return fmt.Errorf("progress of %v has an unknown source %d", p.Attempt, p.Source)
	case !(p.N >= 0 && p.N <= math.MaxFloat64) || !(p.Fraction >= -1 && p.Fraction <= 1) || p.CPU < 0 || p.Age < 0:
		return fmt.Errorf("impossible progress of %v: %g, fraction %g, processor time %v", p.Attempt, p.N, p.Fraction, p.CPU)
	}
	return nil
}

// ProgressSource is the quantity by which the progress of an attempt is measured.
type ProgressSource uint8

// The sources, by the numbers that are stored.
const (
	ProgressNone         ProgressSource = iota // nothing is known
	ProgressHits                               // entries of planted functions
	ProgressInput                              // bytes of an input of known size
	ProgressIO                                 // bytes read and written
	ProgressCPU                                // processor time
	ProgressInstructions                       // instructions that the processor executed for the program in user mode
	ProgressSources                            // the number of sources
)

var progressNames = [ProgressSources]string{"none", "hits", "input", "io", "cpu", "instructions"}

// Sources returns the sources in the order in which they are tried: an earlier one follows the work of a program more closely
// than a later one. Entries of functions are only counted where the user chose them, and then they come first.
func Sources() []ProgressSource {
	return []ProgressSource{ProgressInput, ProgressInstructions, ProgressIO, ProgressCPU}
}

// autoProgress is the value of --progress by which berth tries the sources one after the other.
const autoProgress = "auto"

// ProgressNamed returns the source with a name that a user may choose, or ProgressNone for autoProgress and "".
func ProgressNamed(name string) (ProgressSource, error) {
	if name == "" || name == autoProgress {
		return ProgressNone, nil
	}
	if i := slices.Index(progressNames[:], name); i > int(ProgressNone) {
		return ProgressSource(i), nil
	}
	return ProgressNone, fmt.Errorf("%q is not a source of progress", name)
}

// String returns the source's name in lower case.
func (s ProgressSource) String() string {
	if int(s) < len(progressNames) {
		return progressNames[s]
	}
	return "unknown"
}

// MarshalJSON writes the source's name. It is not MarshalText, because then MessagePack would write the name, too.
func (s ProgressSource) MarshalJSON() ([]byte, error) {
	if s >= ProgressSources {
		return nil, fmt.Errorf("progress source %d does not exist", s)
	}
	return json.Marshal(progressNames[s])
}

// UnmarshalJSON reads the name of a source.
func (s *ProgressSource) UnmarshalJSON(text []byte) error {
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	i := slices.Index(progressNames[:], name)
	if i < 0 {
		return fmt.Errorf("%q is not a source of progress; the sources are %s", name, strings.Join(progressNames[:], ", "))
	}
	*s = ProgressSource(i)
	return nil
}
