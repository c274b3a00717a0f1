package swf

import (
	"bufio"
	"io"
	"strconv"
	"time"
)

// Write writes a log: the unchanged header, then a line for each job with fields separated by one
// blank. Reading it gives the same log, except for the line numbers.
func Write(w io.Writer, l *Log) error {
	out := bufio.NewWriterSize(w, blockSize)
	for _, line := range l.Header {
		// bufio keeps the first error until Flush.
		_, _ = out.WriteString(line)
		_ = out.WriteByte('\n')
	}
	var b []byte
	for i := range l.Jobs {
		b = l.Jobs[i].append(b[:0])
		_, _ = out.Write(b)
	}
	return out.Flush()
}

// append appends the job's line.
func (j *Job) append(b []byte) []byte {
	b = strconv.AppendInt(b, j.Number, 10)
	for _, d := range [...]time.Duration{j.Submit.Sub(0), j.Wait, j.Run} {
		b = AppendSeconds(append(b, ' '), d)
	}
	b = strconv.AppendInt(append(b, ' '), int64(j.Procs), 10)
	b = AppendSeconds(append(b, ' '), j.CPU)
	for _, n := range [...]int64{j.Mem, int64(j.ReqProcs)} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	b = AppendSeconds(append(b, ' '), j.Request)
	for _, n := range [...]int64{j.ReqMem, int64(j.Status), j.User, j.Group, j.App, j.Queue, j.Partition, j.After} {
		b = strconv.AppendInt(append(b, ' '), n, 10)
	}
	return append(AppendSeconds(append(b, ' '), j.Think), '\n')
}

// AppendSeconds appends d in seconds with as many decimals as needed, at most nine.
func AppendSeconds(b []byte, d time.Duration) []byte {
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

// text returns d in seconds with the unit.
func text(d time.Duration) string { return string(AppendSeconds(nil, d)) + " s" }
