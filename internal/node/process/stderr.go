package process

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"berth/internal/core/job"
	"berth/internal/sys/probe"
)

// maxLine is the largest part of a line of standard error that is buffered, bytes. Longer lines are
// passed on in pieces.
const maxLine = 64 << 10

// maxLog is the largest size of an attempt's log file, bytes. A program that prints without end
// must not fill the disk of the journals.
const maxLog = 256 << 20

// ReportPrefix begins the lines of standard error that are reports for berth
// (stream.stderr.reporter.prefix in Hadoop Streaming).
const ReportPrefix = "reporter:"

// Log receives the standard error of a streaming task's programs, line by line. Reports go to the
// counters, and all other lines to the task's log file, which is created for the first of them.
type Log struct {
	Path   string
	Prefix string
	Meter  *probe.Meter
	Count  func(group, name string, n int64) // receives the values of reporter:counter lines
	limit  int64                             // largest size of the file, bytes; 0: maxLog

	mu     sync.Mutex
	file   *os.File
	size   int64  // of the file, bytes
	failed error  // the log file cannot be written: the text is dropped and the task goes on
	tail   []byte // the last text that went to the log
}

// stream is the standard error of one program. Lines of several programs are not mixed.
type stream struct {
	log     *Log
	line    []byte
	partial bool   // the beginning of the line was already passed on
	out     []byte // text for the log that is not written yet
}

// Stream returns a writer for the standard error of one program.
func (l *Log) Stream() io.Writer { return &stream{log: l} }

// Write adds text of any length. It never fails: a task is not stopped because of its log.
func (s *stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			s.line = append(s.line, p...)
			if len(s.line) >= maxLine {
				s.pass(false)
			}
			break
		}
		s.line = append(s.line, p[:i+1]...)
		s.pass(true)
		p = p[i+1:]
	}
	s.emit()
	return n, nil
}

// flush passes on a last line without a line end.
func (s *stream) flush() {
	if len(s.line) > 0 {
		s.line = append(s.line, '\n')
		s.pass(true)
		s.emit()
	}
}

// pass passes on the buffered text; whole says that the line ends with it.
func (s *stream) pass(whole bool) {
	if s.partial || !whole || !s.log.report(s.line) {
		s.out = append(s.out, s.line...)
	}
	s.partial = !whole
	s.line = s.line[:0]
}

// emit writes the collected text to the log in one write. One write for each line would dominate
// the time of a program that prints much.
func (s *stream) emit() {
	if len(s.out) > 0 {
		s.log.write(s.out)
		s.out = s.out[:0]
	}
}

// report handles "reporter:counter:GROUP,COUNTER,AMOUNT" and "reporter:status:TEXT" (Hadoop
// Streaming, PipeMapRed.MRErrorThread), and reports whether the line was one of these. As in Hadoop
// a malformed line goes to the log.
func (l *Log) report(text []byte) bool {
	report, ok := bytes.CutPrefix(text, []byte(l.Prefix))
	if !ok {
		return false
	}
	rest := string(bytes.TrimRight(report, "\r\n"))
	if status, ok := strings.CutPrefix(rest, "status:"); ok {
		l.Meter.Status(OneLine(status))
		return true
	}
	counter, ok := strings.CutPrefix(rest, "counter:")
	if !ok {
		return false
	}
	columns := strings.Split(strings.TrimSpace(counter), ",")
	if len(columns) != 3 {
		return false
	}
	n, err := strconv.ParseInt(columns[2], 10, 64)
	if err != nil {
		return false
	}
	l.Count(columns[0], columns[1], n)
	return true
}

// write appends to the log file.
func (l *Log) write(text []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tail = append(l.tail, text...)
	if n := len(l.tail); n > 4*tailBytes {
		l.tail = append(l.tail[:0], l.tail[n-2*tailBytes:]...)
	}
	if l.failed != nil {
		return
	}
	if l.file == nil {
		l.file, l.failed = createLog(l.Path)
	}
	if l.failed == nil && l.size < cmp.Or(l.limit, maxLog) {
		l.failed = l.keep(text)
	}
}

// keep writes text to the file. Text beyond the limit is cut off, and a line in the file says so.
func (l *Log) keep(text []byte) error {
	if left := cmp.Or(l.limit, maxLog) - l.size; int64(len(text)) > left {
		text = fmt.Appendf(text[:left:left], "\n[berth: cut off here, at %s]\n", job.FormatSize(l.size+left))
	}
	n, err := l.file.Write(text)
	l.size += int64(n)
	return err
}

// createLog creates a log file of mode 0600, because tasks may print secrets.
func createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Close closes the log and returns its last lines, and the error of its file.
func (l *Log) Close() (tail string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.failed
	if l.file != nil {
		err = errors.Join(err, l.file.Close())
		l.file = nil
	}
	if err != nil {
		err = fmt.Errorf("cannot write the log of a task: %w", err)
	}
	return LastLines(string(l.tail)), err
}
