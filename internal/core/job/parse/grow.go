package parse

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"berth/internal/core/job"
)

// between separates the two values of a range.
const between = ".."

// Grow is an amount with which tasks start, and up to which it may grow when it was too small for a task.
type Grow[T ~int64] struct {
	First T
	Most  T    // as First: it never grows. With Auto 0: up to what the largest node has
	Auto  bool // First is chosen from earlier tasks
}

// more returns up to what the amount grows, or 0.
func (g Grow[T]) more() T {
	if g.Most == g.First {
		return 0
	}
	return g.Most
}

// autoWord chooses the memory of tasks from earlier ones.
const autoWord = "auto"

// GrowMem parses the memory of tasks: a size, "4G..64G", "auto" or "auto..64G". where is the flag or file:line that an error names.
func GrowMem(where, s string) (g Grow[int64], err error) {
	first, most, ranged := strings.Cut(s, between)
	if strings.EqualFold(strings.TrimSpace(first), autoWord) {
		g.Auto = true
		if ranged {
			g.Most, err = Mem(where, most)
		}
		if err == nil && ranged && g.Most == 0 {
			err = noRange(where, s)
		}
		return g, err
	}
	return grow(where, s, "4G..64G or auto..64G", Mem)
}

// GrowTime parses the time limit of tasks: a limit as for Limit, or "10m..2h".
func GrowTime(where, s string) (g Grow[time.Duration], err error) {
	if strings.Contains(s, between) {
		return grow(where, s, "10m..2h", Duration)
	}
	g.First, err = Limit(where, s)
	g.Most = g.First
	return g, err
}

// grow parses a value, or two that increase.
func grow[T ~int64](where, s, example string, value func(where, s string) (T, error)) (g Grow[T], err error) {
	first, most, ranged := strings.Cut(s, between)
	g.First, err = value(where, first)
	if !ranged {
		g.Most = g.First
		return g, err
	}
	high, errHigh := value(where, most)
	switch g.Most = high; {
	case cmp.Or(err, errHigh) != nil:
		err = job.ConfigError(where, fmt.Sprintf("%q is not a range", s), "write two values, as in "+example)
	case g.First > g.Most:
		err = job.ConfigError(where, fmt.Sprintf("%q ends below its begin", s), "write the smaller value first")
	case g.First == 0:
		err = noRange(where, s)
	}
	return g, err
}

func noRange(where, s string) error {
	return job.ConfigError(where, fmt.Sprintf("%q has a 0", s), "write a range of values above 0, or a single value")
}

// setMem sets the memory of every kind of task that the job has.
func setMem(a *Ask, where, value string) error {
	m, err := GrowMem(where, value)
	a.write(func(s *job.Spec) error {
		switch {
		case !m.Auto && m.First == 0:
			return nil
		case s.MapReduce != nil && (m.Auto || m.Most > m.First):
			return job.ArgumentError(where, "only the memory of a bag's tasks can grow, or be chosen from earlier ones", "write a single size, as in 4G")
		}
		for _, n := range needs(s) {
			n.Mem = m.First
		}
		if b := s.Bag; b != nil {
			b.MaxMem, b.AutoMem = m.more(), m.Auto
		}
		return nil
	})
	return err
}

func setTimeLimit(a *Ask, where, value string) error {
	g, err := GrowTime(where, value)
	a.ofBag(func(b *job.BagSpec) { b.TimeLimit, b.MaxTimeLimit = g.First, g.more() })
	return err
}
