package job

import (
	"fmt"
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

// MarshalText returns the source's name.
func (s ProgressSource) MarshalText() ([]byte, error) {
	if int(s) >= len(progressNames) {
		return nil, fmt.Errorf("progress source %d does not exist", s)
	}
	return []byte(progressNames[s]), nil
}

// UnmarshalText takes the name of a source.
func (s *ProgressSource) UnmarshalText(text []byte) error {
	for i, name := range progressNames {
		if name == string(text) {
			*s = ProgressSource(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no source of progress; there are hits, input, io, cpu and none", text)
}
