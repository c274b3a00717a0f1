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
	log      *Log
	odd      workload.OnOdd
	anyOrder bool
	line     int      // number of lines
	last     job.Time // submission of the last job
	after    int      // line of the last job
	refused  error
	fields   [fieldCount]number
}

// take parses a line, which ends with a newline.
func (p *parser) take(line []byte) {
	p.line++
	why, first := "", 0
	for line[first] <= ' ' && line[first] != '\n' {
		first++
	}
	switch line[first] {
	case '\n':
		return
	case ';':
		p.log.Header = append(p.log.Header, string(bytes.TrimRight(line[:len(line)-1], "\r")))
		return
	}
	if why = p.split(line[first:]); why == "" {
		why = p.add()
	}
	if odd := (workload.Odd{Line: p.line, Why: why}); why != "" && p.odd == workload.Refuse {
		p.refused = odd.In(p.log.Name)
	} else if why != "" {
		p.log.Skipped = append(p.log.Skipped, odd)
	}
}

// split parses the fields of a line, which begins with the first and ends with a newline. It returns what
// is wrong with the line, or "". It parses whole numbers digit by digit: most have as many digits as
// in the line before, so that branch prediction makes this faster than eight digits at once.
func (p *parser) split(line []byte) string {
	i := 0
	for k := range p.fields {
		begin, sign := i, int64(1)
		if line[i] == '-' {
			i, sign = i+1, -1
		}
		first, whole := i, int64(0)
		for line[i]-'0' <= 9 {
			whole = whole*10 + int64(line[i]-'0')
			i++
		}
		p.fields[k] = number{whole: sign * whole}
		if i == first || i-first > 9 || line[i] > ' ' {
			for line[i] > ' ' {
				i++
			}
			var ok bool
			if p.fields[k], ok = parse(line[begin:i]); !ok {
				return unreadable(line, k)
			}
		}
		for line[i] <= ' ' && line[i] != '\n' {
			i++
		}
	}
	if line[i] != '\n' {
		return wrongCount(line)
	}
	return ""
}

// fields returns the fields of a line, which blanks separate.
func fields(line []byte) [][]byte {
	return bytes.FieldsFunc(line, func(r rune) bool { return r <= ' ' })
}

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
	if f, err := strconv.ParseFloat(string(all[k]), 64); errors.Is(err, strconv.ErrRange) || math.Abs(f) > maxWhole && !math.IsInf(f, 0) {
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

// span returns a number of seconds as a duration.
func (n number) span() time.Duration {
	return time.Duration(n.whole)*time.Second + time.Duration(n.nano)
}

// add adds the job of the parsed fields. It returns what is wrong with it, or "".
func (p *parser) add() string {
	f := &p.fields
	submit := job.Time(f[1].span())
	run := f[3].span()
	switch {
	case submit < 0:
		return fmt.Sprintf("the submit time is negative: %s", text(submit.Sub(0)))
	case submit > workload.Latest:
		return fmt.Sprintf("the submit time is too large: %s", text(submit.Sub(0)))
	case run < 0 && run != UnknownTime:
		return fmt.Sprintf("the run time is negative: %s", text(run))
	case submit < p.last && !p.anyOrder:
		return fmt.Sprintf("submitted at %s, before the job of line %d (%s): times are out of order",
			text(submit.Sub(0)), p.after, text(p.last.Sub(0)))
	case !count(f[4]) || !count(f[7]) || !count(f[10]):
		return "processors and status must be whole numbers that fit 32 bits"
	}
	p.last, p.after = submit, p.line
	if n := len(p.log.Jobs); n == cap(p.log.Jobs) {
		p.log.Jobs = slices.Grow(p.log.Jobs, 3*n+256) // append alone would copy large logs several times
	}
	p.log.Jobs = append(p.log.Jobs, Job{
		Number: f[0].rounded(), Submit: submit, Wait: f[2].span(), Run: run, Procs: int32(f[4].whole),
		CPU: f[5].span(), Mem: f[6].rounded(), ReqProcs: int32(f[7].whole), Request: f[8].span(), ReqMem: f[9].rounded(),
		Status: int32(f[10].whole), User: f[11].rounded(), Group: f[12].rounded(), App: f[13].rounded(),
		Queue: f[14].rounded(), Partition: f[15].rounded(), After: f[16].rounded(), Think: f[17].span(),
		Line: int32(min(p.line, math.MaxInt32)),
	})
	return ""
}

// count reports whether a field fits 32 bits.
func count(n number) bool {
	return n.nano == 0 && n.whole >= math.MinInt32 && n.whole <= math.MaxInt32
}
