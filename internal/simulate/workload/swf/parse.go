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
var fieldNames = [len(Fields{})]string{
	"job number", "submit time", "wait time", "run time", "allocated processors", "CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable",
	"queue", "partition", "preceding job", "think time",
}

// parser parses the lines of a log.
type parser struct {
	log    *Log
	odd    workload.OnOdd
	size   int64         // of the text; 0: unknown
	length int64         // of the lines with jobs so far
	last   time.Duration // submission of the last job
	after  int           // line of the last job
	fields Fields
}

// take parses a line.
func (p *parser) take(number int, line []byte) error {
	line = append(line, '\n') // where it was, or behind the text
	text := line
	for text[0] <= ' ' {
		if text = text[1:]; len(text) == 0 {
			return nil
		}
	}
	if text[0] == ';' {
		p.log.Header = append(p.log.Header, string(bytes.TrimRight(line, "\r\n")))
		return nil
	}
	why := p.split(text)
	if why == "" {
		p.length += int64(len(line))
		why = p.add(number)
	}
	return p.odd.Take(&p.log.Skipped, workload.Odd{Line: number, Why: why}, p.log.Name)
}

// split parses the fields of a line, which begins with the first and ends with a newline. It returns what is wrong with the line, or "".
// It parses whole numbers digit by digit: most have as many digits as in the line before, so that branch prediction makes this faster
// than eight digits at once.
func (p *parser) split(line []byte) string {
	i := 0
	for k := range p.fields {
		begin, sign := i, time.Second
		if line[i] == '-' {
			i, sign = i+1, -time.Second
		}
		first, value := i, time.Duration(0)
		for line[i]-'0' <= 9 {
			value = value*10 + time.Duration(line[i]-'0')
			i++
		}
		whole := i - first
		p.fields[k] = value * sign
		if line[i] == '.' {
			for i++; line[i]-'0' <= 9; i++ {
				sign /= 10
				p.fields[k] += time.Duration(line[i]-'0') * sign
			}
		}
		if whole == 0 || whole > 9 || line[i] > ' ' {
			for line[i] > ' ' {
				i++
			}
			var ok bool
			if p.fields[k], ok = parse(string(line[begin:i])); !ok {
				return unreadable(line, k)
			}
		}
		for line[i] == ' ' || line[i] < ' ' && line[i] != '\n' {
			i++
		}
	}
	if line[i] != '\n' {
		return wrongCount(line)
	}
	return ""
}

// blank reports whether a character separates fields.
func blank(r rune) bool { return r <= ' ' }

// fields returns the fields of a line.
func fields(line []byte) [][]byte { return bytes.FieldsFunc(line, blank) }

func wrongCount(line []byte) string {
	return fmt.Sprintf("the line has %d fields instead of %d", len(fields(line)), len(fieldNames))
}

// unreadable returns the message for field k, or that for the whole line if it is no line of a log
// at all.
func unreadable(line []byte, k int) string {
	all := fields(line)
	if len(all) != len(fieldNames) {
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
	switch {
	case f[Submit] < 0:
		return "the submit time is negative: " + text(f[Submit])
	case job.Time(f[Submit]) > workload.Latest:
		return "the submit time is too large: " + text(f[Submit])
	case f[Run] < 0 && f[Run] != UnknownTime:
		return "the run time is negative: " + text(f[Run])
	case f[Submit] < p.last:
		return fmt.Sprintf("submitted at %s, before the job of line %d (%s): times are out of order", text(f[Submit]), p.after, text(p.last))
	case !count(f[Procs]) || !count(f[ReqProcs]) || !count(f[Status]):
		return "processors and status must be whole numbers that fit 32 bits"
	}
	p.last, p.after = f[Submit], line
	if n := int64(len(p.log.Jobs)); n == int64(cap(p.log.Jobs)) {
		rest := p.size*n/p.length*17/16 - n                                      // by the lines so far, of which the later ones may be shorter
		p.log.Jobs = slices.Grow(p.log.Jobs, int(max(n, 256, min(rest, 1<<20)))) // the size of a damaged file may be any number
	}
	p.log.Jobs = append(p.log.Jobs, Job{*f, int32(min(line, math.MaxInt32))})
	return ""
}
