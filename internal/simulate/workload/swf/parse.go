package swf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

// fieldNames are the names of the fields in messages.
var fieldNames = [...]string{
	"job number", "submit time", "wait time", "run time", "allocated processors", "CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable",
	"queue", "partition", "preceding job", "think time",
}

const fieldCount = len(fieldNames)

// parser parses the lines of a log.
type parser struct {
	log    *Log
	odd    workload.OnOdd
	last   job.Time // submission of the last job
	after  int      // line of the last job
	fields [fieldCount]time.Duration
}

// take parses a line.
func (p *parser) take(number int, line []byte) error {
	text := bytes.TrimLeftFunc(line, blank)
	if len(text) == 0 {
		return nil
	}
	if text[0] == ';' {
		p.log.Header = append(p.log.Header, string(bytes.TrimRight(line, "\r")))
		return nil
	}
	why := p.split(text)
	if why == "" {
		why = p.add(number)
	}
	return p.odd.Take(&p.log.Skipped, workload.Odd{Line: number, Why: why}, p.log.Name)
}

// split parses the fields of a line, which begins with the first. It returns what is wrong with the line, or "".
// It parses whole numbers digit by digit: most have as many digits as in the line before, so that branch prediction makes this faster
// than eight digits at once.
func (p *parser) split(line []byte) string {
	i := 0
	for k := range p.fields {
		begin, sign := i, time.Second
		if i < len(line) && line[i] == '-' {
			i, sign = i+1, -time.Second
		}
		first, value := i, time.Duration(0)
		for i < len(line) && line[i]-'0' <= 9 {
			value = value*10 + time.Duration(line[i]-'0')
			i++
		}
		whole := i - first
		p.fields[k] = value * sign
		if i < len(line) && line[i] == '.' {
			for i++; i < len(line) && line[i]-'0' <= 9; i++ {
				sign /= 10
				p.fields[k] += time.Duration(line[i]-'0') * sign
			}
		}
		if whole == 0 || whole > 9 || i < len(line) && line[i] > ' ' {
			for i < len(line) && line[i] > ' ' {
				i++
			}
			var ok bool
			if p.fields[k], ok = parse(string(line[begin:i])); !ok {
				return unreadable(line, k)
			}
		}
		for i < len(line) && line[i] <= ' ' {
			i++
		}
	}
	if i < len(line) {
		return wrongCount(line)
	}
	return ""
}

// blank reports whether a character separates fields.
func blank(r rune) bool { return r <= ' ' }

// fields returns the fields of a line.
func fields(line []byte) [][]byte { return bytes.FieldsFunc(line, blank) }

func wrongCount(line []byte) string {
	return fmt.Sprintf("the line has %d fields instead of %d", len(fields(line)), fieldCount)
}

// unreadable returns the message for field k, or that for the whole line if it is no line of a log
// at all.
func unreadable(line []byte, k int) string {
	all := fields(line)
	if len(all) != fieldCount {
		return wrongCount(line)
	}
	what := "cannot be parsed as a number"
	if f, err := strconv.ParseFloat(string(all[k]), 64); errors.Is(err, strconv.ErrRange) || math.Abs(f) > longest && !math.IsInf(f, 0) {
		what = "is too large"
	}
	return fmt.Sprintf("field %d, the %s, %s: %s", k+1, fieldNames[k], what, shown(all[k]))
}

// shown quotes a field, or its beginning.
func shown(field []byte) string {
	if len(field) > 20 {
		return fmt.Sprintf("%q…", field[:20])
	}
	return fmt.Sprintf("%q", field)
}

// add adds the job of the parsed fields. It returns what is wrong with it, or "".
func (p *parser) add(line int) string {
	f := &p.fields
	submit, run := job.Time(f[1]), f[3]
	switch {
	case submit < 0:
		return "the submit time is negative: " + text(f[1])
	case submit > workload.Latest:
		return "the submit time is too large: " + text(f[1])
	case run < 0 && run != UnknownTime:
		return "the run time is negative: " + text(run)
	case submit < p.last:
		return fmt.Sprintf("submitted at %s, before the job of line %d (%s): times are out of order", text(f[1]), p.after, text(p.last.Sub(0)))
	case !count(f[4]) || !count(f[7]) || !count(f[10]):
		return "processors and status must be whole numbers that fit 32 bits"
	}
	p.last, p.after = submit, line
	if n := len(p.log.Jobs); n == cap(p.log.Jobs) {
		p.log.Jobs = slices.Grow(p.log.Jobs, max(n, 256)) // append alone would copy long logs more often
	}
	p.log.Jobs = append(p.log.Jobs, Job{
		Number: rounded(f[0]), Submit: submit, Wait: f[2], Run: run, Procs: int32(f[4] / time.Second),
		CPU: f[5], Mem: rounded(f[6]), ReqProcs: int32(f[7] / time.Second), Request: f[8], ReqMem: rounded(f[9]),
		Status: int32(f[10] / time.Second), User: rounded(f[11]), Group: rounded(f[12]), App: rounded(f[13]),
		Queue: rounded(f[14]), Partition: rounded(f[15]), After: rounded(f[16]), Think: f[17],
		Line: int32(min(line, math.MaxInt32)),
	})
	return ""
}
