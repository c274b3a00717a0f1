package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"berth/internal/job"
)

const (
	// blockSize is how much is taken at once of what arrives, bytes.
	blockSize = 256 << 10
	// beyond is how much is asked for behind a range, so that the end of its last line need not be asked for on its own, bytes.
	beyond = 64 << 10
	// readTries is how often a part of an object is asked for that does not arrive whole; between two tries the wait doubles, from readWait on.
	readTries = 4
	readWait  = 100 * time.Millisecond
)

// File is an object that is open for reading, by one goroutine.
type File struct {
	ctx         context.Context
	client      *s3.Client
	name        string
	bucket, key string
	net         func(int64) // told the bytes that arrive
	end         int64       // up to which is asked for at once
	size        int64
	tag         *string // of the object as it was first seen
	pos         int64   // of Read

	body io.ReadCloser // what is on its way; nil: nothing
	next int64         // its offset
	to   int64         // where it ends
	data []byte        // what was taken of it last; in buf
	at   int64         // its offset
	buf  []byte
}

// Open opens the object of a range, of which what a map will read is on its way at once: reading on waits for no answer. All reads are of the object as it is
// now: one that is written anew meanwhile is an error. net is told the bytes that arrive.
func Open(ctx context.Context, r job.Range, net func(int64)) (*File, error) {
	c, err := client(ctx, r.Path)
	if err != nil {
		return nil, err
	}
	f := &File{ctx: ctx, client: c, name: r.Path, net: net, size: r.Size, end: r.Size, buf: make([]byte, blockSize)}
	f.bucket, f.key = job.CutObject(r.Path)
	begin := int64(0)
	if r.Length >= 0 {
		begin, f.end = max(0, r.Offset-1), min(r.Size, r.Offset+r.Length+beyond) // the byte before a range tells whether a line begins with it
	}
	if err := f.ask(begin); err != nil {
		return nil, err
	}
	return f, nil
}

// ask asks for the object from an offset on.
func (f *File) ask(at int64) error {
	f.hangUp()
	in := &s3.GetObjectInput{Bucket: &f.bucket, Key: &f.key, IfMatch: f.tag}
	to := min(f.size, max(f.end, at+beyond))
	if f.size > 0 { // no part of an empty object can be asked for
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", at, to-1))
	}
	out, err := f.client.GetObject(f.ctx, in)
	if err != nil {
		return failure(f.name, "input cannot be read", err)
	}
	f.size = aws.ToInt64(out.ContentLength)
	if whole := aws.ToString(out.ContentRange); whole != "" { // "bytes 0-9/100"
		_, total, _ := strings.Cut(whole, "/")
		if f.size, err = strconv.ParseInt(total, 10, 64); err != nil {
			_ = out.Body.Close()
			return failure(f.name, "the server does not say how large the object is", err)
		}
	}
	f.body, f.next, f.to, f.tag = out.Body, at, min(to, f.size), out.ETag
	return nil
}

func (f *File) hangUp() {
	if f.body != nil {
		_ = f.body.Close()
		f.body = nil
	}
}

// fill has in data what is at an offset of the object. What is cut off on its way is asked for again.
func (f *File) fill(at int64) error {
	wait := readWait
	for try := 1; ; try++ {
		err := f.take(at)
		switch {
		case err == nil || errors.As(err, new(*job.Error)):
			return err
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		case try == readTries:
			return failure(f.name, "input does not arrive whole", err)
		}
		f.hangUp()
		select {
		case <-time.After(wait):
		case <-f.ctx.Done():
		}
		wait *= 2
	}
}

// take takes the next block, which begins at that offset; what is on its way from elsewhere is given up.
func (f *File) take(at int64) error {
	f.data = nil // its memory is used anew
	if f.body == nil || f.next != at || at == f.to {
		if err := f.ask(at); err != nil {
			return err
		}
	}
	n, err := io.ReadFull(f.body, f.buf[:min(blockSize, f.to-at)])
	if err != nil {
		return err
	}
	f.data, f.at, f.next = f.buf[:n], at, at+int64(n)
	f.net(int64(n))
	return nil
}

// ReadAt reads at an offset. It is quick where that is in or right behind what was read last.
func (f *File) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) {
		at := off + int64(n)
		if at >= f.size {
			return n, io.EOF
		}
		if at < f.at || at >= f.at+int64(len(f.data)) {
			if err := f.fill(at); err != nil {
				return n, err
			}
		}
		n += copy(p[n:], f.data[at-f.at:])
	}
	return n, nil
}

// Read reads on from where the last Read ended.
func (f *File) Read(p []byte) (int, error) {
	p = p[:min(len(p), blockSize)] // what has arrived can be unpacked before more has
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, err
}

// Name returns the object's name.
func (f *File) Name() string { return f.name }

// Size returns how many bytes the object has.
func (f *File) Size() (int64, error) { return f.size, nil }

// Close gives up what is on its way.
func (f *File) Close() error {
	f.hangUp()
	return nil
}
