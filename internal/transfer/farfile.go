package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"berth/internal/job"
	"berth/internal/mapreduce/input"
	"berth/internal/process"
)

// rangeTries is how often a part of a file is asked for that does not arrive as it is; between two tries the wait doubles, from rangeWait on.
const (
	rangeTries = 4
	rangeWait  = 100 * time.Millisecond
)

// beyond is how much is asked for behind a range, so that the end of its last line need not be asked for on its own, bytes.
const beyond = 64 << 10

// OpenRange opens the file of a range of a map's split, of which what the map will read is on its way at once: reading on waits for no answer. net is told
// the bytes that arrive. The file is for one goroutine.
func (c *Client) OpenRange(ctx context.Context, at job.Attempt, split job.Split, index int, net func(int64)) (input.File, error) {
	r := split.Ranges[index]
	f := &farFile{client: c, ctx: ctx, path: fmt.Sprintf("%s/ranges/%d", taskPath(at), index), name: r.Path, net: net, end: r.Size, buf: make([]byte, blockSize)}
	begin := int64(0)
	if r.Length >= 0 {
		begin, f.end = max(0, r.Offset-1), min(r.Size, r.Offset+r.Length+beyond) // the byte before a range tells whether a line begins with it
	}
	if err := f.ask(begin); err != nil {
		return nil, err
	}
	return f, nil
}

// farFile is an input file on another machine.
type farFile struct {
	client *Client
	ctx    context.Context
	path   string // of requests
	name   string // the file's
	net    func(int64)
	end    int64 // up to which is asked for at once
	size   int64
	pos    int64 // of Read

	body io.ReadCloser // blocks that are on their way; nil: none
	next int64         // offset of the next of them
	data []byte        // of the block that was read last; in buf
	at   int64         // its offset
	buf  []byte
}

// ask asks for the file from an offset on.
func (f *farFile) ask(at int64) error {
	f.hangUp()
	path := fmt.Sprintf("%s?at=%d&n=%d", f.path, at, max(f.end-at, beyond))
	a, err := f.client.request(f.ctx, http.MethodGet, path, nil, 0)
	if err != nil {
		return err
	}
	if f.size, err = strconv.ParseInt(a.Header.Get(sizeHeader), 10, 64); err != nil {
		_ = a.Body.Close()
		return process.Broken("the machine with the files does not say how large %s is: %v", f.name, err)
	}
	f.body, f.next = a.Body, at
	return nil
}

func (f *farFile) hangUp() {
	if f.body != nil {
		_ = f.body.Close()
		f.body = nil
	}
}

// fill has the block in data that holds the byte at an offset of the file. One that is damaged or cut off is asked for again.
func (f *farFile) fill(at int64) error {
	wait := rangeWait
	for try := 1; ; try++ {
		err := f.take(at)
		var told *process.Failure
		switch {
		case err == nil || errors.As(err, &told):
			return err
		case f.ctx.Err() != nil:
			return context.Cause(f.ctx)
		case try == rangeTries:
			return lost("%s does not arrive from the machine with the files: %v", f.name, err)
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
func (f *farFile) take(at int64) error {
	f.data = nil // its memory is used anew
	if f.body == nil || f.next != at {
		if err := f.ask(at); err != nil {
			return err
		}
	}
	data, err := readBlock(f.body, f.buf)
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && at < f.size { // all that was asked for has arrived
		if err = f.ask(at); err == nil {
			data, err = readBlock(f.body, f.buf)
		}
	}
	if err != nil {
		return err
	}
	f.data, f.at, f.next = data, at, at+int64(len(data))
	f.net(int64(len(data)))
	return nil
}

// ReadAt reads at an offset. It is quick where that is in or right behind the block that was read last.
func (f *farFile) ReadAt(p []byte, off int64) (n int, err error) {
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
func (f *farFile) Read(p []byte) (int, error) {
	p = p[:min(len(p), blockSize)] // what has arrived can be unpacked before more has
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, err
}

// Name returns the file's path on its machine.
func (f *farFile) Name() string { return f.name }

// Size returns how many bytes the file had when it was asked for last.
func (f *farFile) Size() (int64, error) { return f.size, nil }

// Close gives up what is on its way.
func (f *farFile) Close() error {
	f.hangUp()
	return nil
}
