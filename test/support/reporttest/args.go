package reporttest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
)

// args is a parsed line: TIME VERB WORD… KEY=VALUE…. err is the first error.
type args struct {
	at    time.Duration
	verb  string
	words []string
	named map[string]string
	err   error
}

func parse(line string) (*args, error) {
	fields, err := split(line)
	if err != nil {
		return nil, err
	}
	if len(fields) < 2 {
		return nil, errors.New("want a time and a verb")
	}
	at, err := time.ParseDuration(fields[0])
	if err != nil {
		return nil, err
	}
	a := &args{at: at, verb: fields[1], named: map[string]string{}}
	for _, f := range fields[2:] {
		if k, v, ok := strings.Cut(f, "="); ok {
			a.named[k] = v
		} else {
			a.words = append(a.words, f)
		}
	}
	return a, nil
}

// split splits a line at spaces outside of quotes and removes the quotes.
func split(line string) ([]string, error) {
	var fields []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		end := strings.IndexAny(line, " \"")
		if end < 0 || line[end] == ' ' {
			if end < 0 {
				end = len(line)
			}
			fields, line = append(fields, line[:end]), line[end:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(line[end:])
		if err != nil {
			return nil, fmt.Errorf("after %q: %w", line[:end], err)
		}
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		fields, line = append(fields, line[:end]+text), line[end+len(quoted):]
	}
	return fields, nil
}

func (a *args) word(i int) string {
	if i < len(a.words) {
		return a.words[i]
	}
	return ""
}

func (a *args) text(key string) string { return a.named[key] }

// size parses a whole number with the suffix K, M or G (powers of 1024).
func (a *args) size(key string) int64 {
	text, unit := a.named[key], int64(1)
	if text == "" {
		return 0
	}
	if i := strings.IndexByte("KMG", text[len(text)-1]); i >= 0 {
		text, unit = text[:len(text)-1], 1<<(10*(i+1))
	}
	n, err := strconv.ParseInt(text, 10, 64)
	a.fail(key, err)
	return n * unit
}

func (a *args) float(key string, missing float64) float64 {
	text, ok := a.named[key]
	if !ok {
		return missing
	}
	f, err := strconv.ParseFloat(text, 64)
	a.fail(key, err)
	return f
}

// progress parses source=NAME n=NUMBER whole=FRACTION for an attempt as a whole.
func (a *args) progress(at job.Attempt) job.Progress {
	p := job.Progress{Attempt: at, N: a.float("n", 0), Fraction: a.float("whole", -1)}
	if name := a.text("source"); name != "" {
		a.fail("source", p.Source.UnmarshalJSON([]byte(strconv.Quote(name))))
	}
	return p
}

func (a *args) duration(key string) time.Duration {
	text, ok := a.named[key]
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(text)
	a.fail(key, err)
	return d
}

// instant parses an instant relative to the script's epoch; 0 means none.
func (a *args) instant(key string) job.Time {
	if _, ok := a.named[key]; !ok {
		return 0
	}
	return Epoch.Add(a.duration(key))
}

// counters parses counter:GROUP,NAME=N.
func (a *args) counters() map[string]int64 {
	var out map[string]int64
	for k := range a.named {
		if name, ok := strings.CutPrefix(k, "counter:"); ok {
			if out == nil {
				out = map[string]int64{}
			}
			out[name] = a.size(k)
		}
	}
	return out
}

func (a *args) fail(key string, err error) {
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s: %w", key, err)
	}
}
