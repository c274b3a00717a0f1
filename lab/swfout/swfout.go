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
	b = strconv.AppendInt(b, j.Number, 10)
	for _, d := range [...]time.Duration{j.Submit.Sub(0), j.Wait, j.Run} {
		b = appendSeconds(append(b, ' '), d)
	}
	b = strconv.AppendInt(append(b, ' '), int64(j.Procs), 10)
	b = appendSeconds(append(b, ' '), j.CPU)
	for _, n := range [...]int64{j.Mem, int64(j.ReqProcs)} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	b = appendSeconds(append(b, ' '), j.Request)
	for _, n := range [...]int64{j.ReqMem, int64(j.Status), j.User, j.Group, j.App, j.Queue, j.Partition, j.After} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return append(appendSeconds(append(b, ' '), j.Think), '\n')
}

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
