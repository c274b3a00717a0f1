// Package explain words the reasons for the state of a job, for berth explain: the engine has each sentence where it knows that it applies, and
// this package writes its values as people read them. It decides nothing.
package explain

import (
	"fmt"
	"strings"
	"time"

	"berth/internal/core/job"
)

// Sentence is a line of berth explain, or a part of one, with %s for each of its values.
type Sentence string

// With returns a sentence with its values. Durations are written in whole seconds, an int64 as a size, and
// resources as cores, GPUs and memory.
func With(s Sentence, values ...any) string {
	for i, v := range values {
		switch v := v.(type) {
		case time.Duration:
			values[i] = job.FormatDuration(v.Round(time.Second))
		case int64:
			values[i] = job.FormatSize(v)
		case int:
			values[i] = job.FormatCount(v)
		case job.Resources:
			values[i] = v.Words()
		}
	}
	return fmt.Sprintf(string(s), values...)
}

// If returns a part with its values, or nothing if it does not apply.
func If(s Sentence, applies bool, values ...any) string {
	if !applies {
		return ""
	}
	return With(s, values...)
}

// Do returns a number of things and what they do: "1 map waits", "2 maps wait".
func Do(n int, what, verb string) string { return job.Count(n, what) + " " + Verb(n, verb) }

// Verb returns a verb in the form for n subjects.
func Verb(n int, verb string) string {
	if n == 1 {
		return verb + "s"
	}
	return verb
}

// Few joins a list and shortens a long one.
func Few[T ~string](all []T) string {
	const most = 4
	var words []string
	for _, v := range all[:min(most, len(all))] {
		words = append(words, string(v))
	}
	s := strings.Join(words, ", ")
	if n := len(all) - most; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// AllDone returns jobs with "is done" or "are done".
func AllDone(jobs []job.ID) string {
	if len(jobs) == 1 {
		return Few(jobs) + " is done"
	}
	return Few(jobs) + " are done"
}
