package mapreduce

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/internal/mapreduce/seqfile"
)

// Output is the part file of one attempt. It is written in the folder with what the attempt leaves.
type Output struct {
	path     string
	mode     uint32           // permission bits; 0: those of the umask
	codec    *input.Codec     // of the whole file; nil: plain
	sequence *seqfile.Options // nil: text
	file     *os.File         // nil: nothing written, and LazyOutput
	buf      *bufio.Writer
	text     io.Writer       // of which the file consists, or from which it is compressed
	records  *seqfile.Writer // nil: text
	end      io.Closer       // ends what is compressed, or records; nil: a plain file needs no end
	closed   bool
}

// NewOutput creates a part file in the folder dir. Its name is partName with the suffix of spec.Compress.
// With spec.LazyOutput the file is created when the first byte is written.
func NewOutput(spec *job.MapReduceSpec, attempt job.Attempt, dir, partName string) (*Output, error) {
	c, err := fileCodec(spec)
	if err != nil {
		return nil, err
	}
	sequence, err := sequenceOptions(spec, attempt, partName)
	if err != nil {
		return nil, err
	}
	if c != nil {
		partName += c.Suffix
	}
	o := &Output{path: filepath.Join(dir, partName), mode: spec.PartMode, codec: c, sequence: sequence}
	if !spec.LazyOutput {
		err = o.create()
	}
	return o, err
}

// createFile creates an empty file of an attempt, and the folder that it is in. mode is its permission bits; 0: those of the umask.
func createFile(path string, mode uint32) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, outputError(path, err)
	}
	file, err := os.Create(path)
	if perm := fs.FileMode(mode).Perm(); err == nil && perm != 0 {
		if err = file.Chmod(perm); err != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return file, outputError(path, err)
}

// create creates the file unless that is done.
func (o *Output) create() error {
	if o.file != nil {
		return nil
	}
	file, err := createFile(o.path, o.mode)
	if err != nil {
		return err
	}
	o.file, o.buf = file, bufio.NewWriterSize(file, outBuffer)
	o.text = o.buf
	switch {
	case o.sequence != nil:
		// Hadoop cannot read a file without its header, even if the file has no records.
		o.records, err = seqfile.NewWriter(o.buf, *o.sequence)
		o.end = o.records
	case o.codec != nil:
		packer, err := o.codec.Writer(o.buf)
		o.text, o.end = packer, packer
		return outputError(o.path, err)
	}
	return outputError(o.path, err)
}

// Write appends p to the part.
func (o *Output) Write(p []byte) (int, error) {
	switch {
	case o.closed:
		return 0, fs.ErrClosed
	case len(p) == 0:
		return 0, nil
	}
	if err := o.create(); err != nil {
		return 0, err
	}
	n, err := o.text.Write(p)
	return n, outputError(o.path, err)
}

// Close completes the file and syncs it to the disk. It becomes part of the output when the attempt is committed.
func (o *Output) Close() error {
	if o.closed || o.file == nil {
		return nil
	}
	o.closed = true
	return outputError(o.path, errors.Join(o.finish(), o.file.Close()))
}

func (o *Output) finish() error {
	if o.end != nil {
		if err := o.end.Close(); err != nil {
			return err
		}
	}
	if err := o.buf.Flush(); err != nil {
		return err
	}
	return o.file.Sync()
}

// Abort removes the part.
func (o *Output) Abort() {
	if o.file == nil {
		return
	}
	if !o.closed {
		_ = o.file.Close() // the file is removed
	}
	o.closed = true
	_ = os.Remove(o.path) // if this fails, it is removed with the attempt's folder
}

// outputError returns the error for an output file that cannot be written. A full disk has its own
// class and advice.
func outputError(path string, err error) error {
	if err == nil || errors.As(err, new(*job.Error)) {
		return err
	}
	e := job.IOError(job.Transient, path, "cannot be written", err)
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
