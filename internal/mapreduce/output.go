package mapreduce

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/internal/sys/disk"
)

// temporaryDir is the folder below a job's output in which attempts write.
const temporaryDir = "_temporary"

// Output is the part file of one attempt. It is written in the attempt's temporary folder, closed, and
// then committed or aborted.
type Output struct {
	aside    string        // folder of the attempt
	temp     string        // the file in it
	final    string        // where Commit puts it
	mode     fs.FileMode   // permission bits; 0: those of the umask
	codec    *input.Codec  // of the whole file; nil: plain
	sequence *sequencePart // nil: text
	file     *os.File      // nil: nothing written, and LazyOutput
	buf      *bufio.Writer
	packer   io.WriteCloser
	info     fs.FileInfo // of the closed file, to recognise it after Commit
	closed   bool
}

// NewOutput creates a part file for an attempt. Its name is partName with the suffix of spec.Compress.
// With spec.LazyOutput the file is created when the first byte is written.
func NewOutput(spec *job.MapReduceSpec, attempt job.Attempt, partName string) (*Output, error) {
	c, err := fileCodec(spec)
	if err != nil {
		return nil, err
	}
	sequence, err := newSequencePart(spec, attempt, partName)
	if err != nil {
		return nil, err
	}
	if c != nil {
		partName += c.Suffix
	}
	aside := attemptDir(spec.Output, attempt)
	o := &Output{aside: aside, temp: filepath.Join(aside, partName), final: filepath.Join(spec.Output, partName),
		mode: fs.FileMode(spec.PartMode).Perm(), codec: c, sequence: sequence}
	if spec.LazyOutput {
		return o, nil
	}
	if err := o.create(); err != nil {
		return nil, err
	}
	return o, nil
}

// attemptDir returns the temporary folder of an attempt.
func attemptDir(output string, a job.Attempt) string {
	name := fmt.Sprintf("%s_%d_%d", strings.ReplaceAll(string(a.Job), "/", "_"), a.Task, a.N)
	return filepath.Join(output, temporaryDir, name)
}

func (o *Output) create() error {
	if err := os.MkdirAll(o.aside, 0o777); err != nil {
		return outputError(o.temp, err)
	}
	file, err := os.Create(o.temp)
	if err != nil {
		return outputError(o.temp, err)
	}
	o.file = file
	if o.mode != 0 {
		if err := file.Chmod(o.mode); err != nil {
			return outputError(o.temp, err)
		}
	}
	o.buf = bufio.NewWriterSize(file, outBuffer)
	switch {
	case o.sequence != nil:
		return outputError(o.temp, o.sequence.begin(o.buf))
	case o.codec == nil:
		return nil
	}
	if o.packer, err = o.codec.Writer(o.buf); err != nil {
		return fmt.Errorf("%s output: %w", o.codec.Name, err)
	}
	return nil
}

// Write appends p to the part.
func (o *Output) Write(p []byte) (int, error) {
	if o.closed {
		return 0, fs.ErrClosed
	}
	if o.file == nil {
		if len(p) == 0 {
			return 0, nil
		}
		if err := o.create(); err != nil {
			return 0, err
		}
	}
	w := io.Writer(o.buf)
	if o.packer != nil {
		w = o.packer
	}
	n, err := w.Write(p)
	return n, outputError(o.temp, err)
}

// Close completes the file and syncs it to the disk. The part is not part of the output before Commit.
func (o *Output) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	if o.file == nil {
		return nil
	}
	return outputError(o.temp, errors.Join(o.finish(), o.file.Close()))
}

func (o *Output) finish() error {
	if o.packer != nil {
		if err := o.packer.Close(); err != nil {
			return err
		}
	}
	if o.sequence != nil {
		if err := o.sequence.writer.Close(); err != nil {
			return err
		}
	}
	if err := o.buf.Flush(); err != nil {
		return err
	}
	if err := o.file.Sync(); err != nil {
		return err
	}
	var err error
	o.info, err = o.file.Stat()
	return err
}

// Commit moves the closed part into the output folder and syncs the folder to the disk. It replaces
// the part of an earlier attempt that was lost. Once Commit has succeeded, further calls succeed too.
func (o *Output) Commit() error {
	if !o.closed {
		return fmt.Errorf("commit of %s: it is not closed", o.temp)
	}
	if err := promote(o.aside, filepath.Dir(o.final), o.temp); err != nil {
		return err
	}
	switch {
	case o.file == nil:
		o.removeAside()
		if err := os.Remove(o.final); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return outputError(o.final, err)
		}
		return nil
	case o.info == nil:
		return fmt.Errorf("commit of %s: it is not complete", o.temp)
	}
	if err := os.Rename(o.temp, o.final); err != nil {
		if now, serr := os.Lstat(o.final); serr == nil && os.SameFile(now, o.info) {
			return nil
		}
		return outputError(o.final, err)
	}
	o.removeAside()
	return outputError(o.final, disk.Sync(filepath.Dir(o.final)))
}

// Abort removes the part. A committed part stays.
func (o *Output) Abort() {
	if o.file != nil {
		if !o.closed {
			_ = o.file.Close() // the file is removed
		}
		_ = os.Remove(o.temp) // if this fails, it is removed with _temporary
	}
	o.closed = true
	o.info = nil
	o.removeAside()
}

// removeAside removes the attempt's folder if it is empty. It may contain other parts of the attempt.
// What remains is removed with _temporary.
func (o *Output) removeAside() { _ = os.Remove(o.aside) }

// Name returns the path of the part once it is committed.
func (o *Output) Name() string { return o.final }

// outputError returns the error for an output file that cannot be written. A full disk has its own
// class and advice.
func outputError(path string, err error) error {
	if err == nil {
		return nil
	}
	var known *job.Error
	if errors.As(err, &known) {
		return err
	}
	e := &job.Error{Class: job.Transient, Code: job.CodeIO, Where: path, What: "cannot be written", Err: err}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		e.Err = errno // Where says the path already
	}
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT:
		e.Class, e.Do = job.Fatal, "free space there"
	case syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOTDIR:
		e.Class, e.Do = job.User, "choose an output folder that you may write to"
	}
	return e
}
