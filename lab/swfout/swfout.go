// Package swfout writes logs in the Standard Workload Format.
package swfout

import (
	"bufio"
	"io"
	"strconv"
	"time"

	"berth/internal/simulate/workload/swf"
)

// Write writes a log: the unchanged header, then a line for each job with fields separated by one
// blank. Reading it gives the same log, except for the line numbers.
func Write(w io.Writer, l *swf.Log) error {
	out := bufio.NewWriter(w)
	for _, line := range l.Header {
		// bufio keeps the first error until Flush.
		_, _ = out.WriteString(line)
		_ = out.WriteByte('\n')
	}
	var b []byte
	for i := range l.Jobs {
		b = appendJob(b[:0], &l.Jobs[i])
		_, _ = out.Write(b)
	}
	return out.Flush()
}

// appendJob appends the job's line.
func appendJob(b []byte, j *swf.Job) []byte {
	for k, d := range j.Fields {
		if k > 0 {
			b = append(b, ' ')
		}
		switch k {
		case swf.Submit, swf.Wait, swf.Run, swf.CPU, swf.Request, swf.Think:
			b = appendSeconds(b, d)
		default:
			b = strconv.AppendInt(b, Whole(d), 10)
		}
	}
	return append(b, '\n')
}

// Whole returns the nearest whole number of a field.
func Whole(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

// appendSeconds appends d in seconds with as many decimals as needed, at most nine.
func appendSeconds(b []byte, d time.Duration) []byte {
	if d < 0 {
		b = append(b, '-')
	}
	whole, nano := abs(int64(d/time.Second)), abs(int64(d%time.Second))
	b = strconv.AppendInt(b, whole, 10)
	if nano == 0 {
		return b
	}
	b = append(b, '.')
	for scale := int64(100_000_000); nano > 0; scale /= 10 {
		b = append(b, byte('0'+nano/scale))
		nano %= scale
	}
	return b
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
