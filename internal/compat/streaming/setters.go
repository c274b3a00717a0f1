package streaming

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// maxTasks is the largest number of maps, and of reduces, that a user can set.
const maxTasks = 1_000_000

func works(name, old, meaning string, apply func(*builder, Setting) error) Key {
	return Key{Name: name, Old: strings.Fields(old), Meaning: meaning, Status: Works, apply: apply}
}

// refused makes a key that must have one of the given values.
func refused(name, old, meaning, why string, only ...string) Key {
	apply := func(_ *builder, s Setting) error {
		if slices.Contains(only, s.Value) {
			return nil
		}
		return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q here", s.Value), why)
	}
	return Key{Name: name, Old: strings.Fields(old), Meaning: meaning + ": " + why, Status: Refused, apply: apply}
}

func text(field func(*builder) *string) func(*builder, Setting) error {
	return func(b *builder, s Setting) error {
		*field(b) = s.Value
		return nil
	}
}

// whole returns a setter of a whole number from low to high. Without a field the value is only checked, and read
// from the configuration later.
func whole(low, high int, field func(*builder) *int) func(*builder, Setting) error {
	return func(b *builder, s Setting) error {
		n, err := strconv.Atoi(strings.TrimSpace(s.Value))
		if err != nil || n < low || n > high {
			return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), fmt.Sprintf("write a whole number from %d to %d", low, high))
		}
		if field != nil {
			*field(b) = n
		}
		return nil
	}
}

func size(field func(*builder) *int64) func(*builder, Setting) error {
	return func(b *builder, s Setting) error {
		n, err := parse.Size(s.Where, s.Value)
		*field(b) = n
		return err
	}
}

// megabytes returns a setter of a number of megabytes. −1 means unset, as in Hadoop.
func megabytes(field func(*builder) *int64) func(*builder, Setting) error {
	return func(b *builder, s Setting) error {
		if s.Value == "-1" {
			return nil
		}
		var n int
		if err := whole(0, math.MaxInt32, func(*builder) *int { return &n })(b, s); err != nil {
			return err
		}
		*field(b) = int64(n) << 20
		return nil
	}
}

func boolean(field func(*builder) *bool) func(*builder, Setting) error {
	return func(b *builder, s Setting) error {
		v, err := parse.Bool(s.Where, s.Value)
		*field(b) = v
		return err
	}
}

func isBool(_ *builder, s Setting) error {
	_, err := parse.Bool(s.Where, s.Value)
	return err
}

// kept leaves a value in the configuration, where the search for input files reads and checks it.
func kept(*builder, Setting) error { return nil }

// separator takes a separator of fields; without a field it is only checked, as it is read from the configuration later on. A backslash and a letter is what a shell
// makes of '\t' in quotes; Hadoop takes it literally, which is hardly ever meant.
func separator(field func(*builder) *string) func(*builder, Setting) error {
	return func(b *builder, s Setting) error {
		if s.Value == "" || strings.ContainsAny(s.Value, "\n\x00") {
			return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write one or more characters other than a newline")
		}
		if len(s.Value) == 2 && s.Value[0] == '\\' {
			b.warn("%s: this is a backslash and a letter; where a control character is meant, let the shell make it: $'\\t'", s.Where)
		}
		if field != nil {
			*field(b) = s.Value
		}
		return nil
	}
}

// setQueue uses a queue as the partition. Hadoop's queue "default" means unset.
func (b *builder) setQueue(s Setting) error {
	if s.Value != "default" && s.Value != "root.default" {
		b.queue = s.Value
	}
	return nil
}

func (b *builder) setSlowStart(s Setting) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(s.Value), 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write a number from 0 to 1")
	}
	b.mr.SlowStart = v
	return nil
}

func (b *builder) setIgnoreKey(s Setting) error {
	v, err := parse.Bool(s.Where, s.Value)
	b.ignoreKey = &v
	return err
}

func (b *builder) setTaskTimeout(s Setting) error {
	var ms int
	if err := whole(0, math.MaxInt32, func(*builder) *int { return &ms })(b, s); err != nil {
		return err
	}
	b.mr.TaskTimeout = time.Duration(ms) * time.Millisecond
	return nil
}

// setSequenceType checks a value that is read from the configuration later.
func (b *builder) setSequenceType(s Setting) error {
	if slices.Contains([]string{"NONE", "RECORD", "BLOCK"}, s.Value) {
		return nil
	}
	return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write RECORD, BLOCK or NONE")
}
