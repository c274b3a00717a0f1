package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/internal/node/process"
)

// OpenRange opens the file of a range of a map's split for reading by one goroutine. It requests the range at once, and
// calls net with the number of bytes that arrive.
func (c *Client) OpenRange(ctx context.Context, at job.Attempt, split job.Split, index int, net func(int64)) (input.File, error) {
	r := split.Ranges[index]
	return input.OpenRemote(ctx, &farFile{c, fmt.Sprintf("%s/ranges/%d", taskPath(at), index), r.Path}, r, net)
}

// farFile is the source of an input file on another machine.
type farFile struct {
	client *Client
	path   string // path of the requests
	name   string // name of the file, for errors
}

// Request requests n bytes from an offset on.
func (f *farFile) Request(ctx context.Context, at, n int64) (io.ReadCloser, int64, error) {
	a, err := f.client.request(ctx, http.MethodGet, fmt.Sprintf("%s?at=%d&n=%d", f.path, at, n), nil, 0)
	if err != nil {
		return nil, 0, err
	}
	size, err := strconv.ParseInt(a.Header.Get(sizeHeader), 10, 64)
	if err != nil {
		_ = a.Body.Close()
		return nil, 0, process.Broken("the machine with the files does not say how large %s is: %v", f.name, err)
	}
	return &blocks{ReadCloser: a.Body, buf: make([]byte, blockSize)}, size, nil
}

// Final reports whether the server answered that it cannot send the file. A block that is damaged or cut off is no such
// answer.
func (f *farFile) Final(err error) bool { return errors.As(err, new(*process.Failure)) }

// Incomplete returns the error for a file that did not arrive in several tries.
func (f *farFile) Incomplete(err error) error {
	return lost("%s does not arrive from the machine with the files: %v", f.name, err)
}

// blocks reads an answer that consists of blocks with checksums.
type blocks struct {
	io.ReadCloser
	buf  []byte
	rest []byte // of the block that was read last
}

// Read reads from one block.
func (b *blocks) Read(p []byte) (n int, err error) {
	if len(b.rest) == 0 {
		b.rest, err = readBlock(b.ReadCloser, b.buf)
	}
	n = copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, err
}
