package streaming

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/job/parse"
)

// maxTasks bounds the maps and reduces that can be asked for.
const maxTasks = 1_000_000

func works(name, old, meaning string, apply func(*builder, setting) error) Key {
	return Key{Name: name, Old: strings.Fields(old), Meaning: meaning, Status: Works, apply: apply}
}

// refused makes a key that may have no value but those given.
func refused(name, old, meaning, why string, only ...string) Key {
	apply := func(_ *builder, s setting) error {
		if slices.Contains(only, s.value) {
			return nil
		}
		return job.ConfigError(s.where, fmt.Sprintf("it cannot be %q here", s.value), why)
	}
	return Key{Name: name, Old: strings.Fields(old), Meaning: meaning + ": " + why, Status: Refused, apply: apply}
}

func text(field func(*builder) *string) func(*builder, setting) error {
	return func(b *builder, s setting) error {
		*field(b) = s.value
		return nil
	}
}

// whole takes a whole number from low to high. Without a field it is only checked,
// as it is read from the configuration later on.
func whole(low, high int, field func(*builder) *int) func(*builder, setting) error {
	return func(b *builder, s setting) error {
		n, err := strconv.Atoi(strings.TrimSpace(s.value))
		if err != nil || n < low || n > high {
			return job.ConfigError(s.where, fmt.Sprintf("it cannot be %q", s.value), fmt.Sprintf("write a whole number from %d to %d", low, high))
		}
		if field != nil {
			*field(b) = n
		}
		return nil
	}
}

func size(field func(*builder) *int64) func(*builder, setting) error {
	return func(b *builder, s setting) error {
		n, err := parse.Size(s.where, s.value)
		*field(b) = n
		return err
	}
}

// megabytes takes a plain number; −1 is Hadoop's way to say nothing.
func megabytes(field func(*builder) *int64) func(*builder, setting) error {
	return func(b *builder, s setting) error {
		if s.value == "-1" {
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

func boolean(field func(*builder) *bool) func(*builder, setting) error {
	return func(b *builder, s setting) error {
		v, err := parse.Bool(s.where, s.value)
		*field(b) = v
		return err
	}
}

func isBool(_ *builder, s setting) error {
	_, err := parse.Bool(s.where, s.value)
	return err
}

// kept leaves a value in the configuration, for who reads it there and checks it: the
// search for input files.
func kept(*builder, setting) error { return nil }

// separator takes a separator of fields. A backslash and a letter is what a shell
// makes of '\t' in quotes; Hadoop takes it literally, which is hardly ever meant.
func separator(field func(*builder) *string) func(*builder, setting) error {
	return func(b *builder, s setting) error {
		if s.value == "" || strings.ContainsAny(s.value, "\n\x00") {
			return job.ConfigError(s.where, fmt.Sprintf("it cannot be %q", s.value), "write one or more characters other than a newline")
		}
		if len(s.value) == 2 && s.value[0] == '\\' {
			b.warn("%s: this is a backslash and a letter; where a control character is meant, let the shell make it: $'\\t'", s.where)
		}
		*field(b) = s.value
		return nil
	}
}

// setQueue takes a queue for a partition. "default" is Hadoop's own and says nothing.
func (b *builder) setQueue(s setting) error {
	if s.value != "default" && s.value != "root.default" {
		b.queue = s.value
	}
	return nil
}

func (b *builder) setSlowStart(s setting) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(s.value), 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return job.ConfigError(s.where, fmt.Sprintf("it cannot be %q", s.value), "write a number from 0 to 1")
	}
	b.mr.SlowStart = v
	return nil
}

func (b *builder) setIgnoreKey(s setting) error {
	v, err := parse.Bool(s.where, s.value)
	b.ignoreKey = &v
	return err
}

func (b *builder) setTaskTimeout(s setting) error {
	var ms int
	if err := whole(0, math.MaxInt32, func(*builder) *int { return &ms })(b, s); err != nil {
		return err
	}
	b.mr.TaskTimeout = time.Duration(ms) * time.Millisecond
	return nil
}
