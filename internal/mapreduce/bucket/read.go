package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
)

// object is the source of an object that is open for reading.
type object struct {
	place
	size int64
	tag  string // entity tag: the listed one, or that of the first answer
}

// Open opens the object of a range for reading by one goroutine. It requests everything that a map of the range will read. If the object is not the listed one, or is
// overwritten later, Open or a read returns an error. net receives the number of bytes of each block that arrives.
func Open(ctx context.Context, r job.Range, net func(int64)) (input.File, error) {
	p, err := at(ctx, r.Path)
	if err != nil {
		return nil, err
	}
	return input.OpenRemote(ctx, &object{p, r.Size, r.Tag}, r, net)
}

// Request requests n bytes from offset at.
func (o *object) Request(ctx context.Context, at, n int64) (io.ReadCloser, int64, error) {
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &o.key}
	if o.tag != "" {
		in.IfMatch = aws.String(`"` + o.tag + `"`)
	}
	if o.size > 0 { // no part of an empty object can be requested
		in.Range = aws.String(fmt.Sprintf("bytes=%d-%d", at, min(o.size, at+n)-1))
	}
	out, err := o.GetObject(ctx, in)
	if answer := (*awshttp.ResponseError)(nil); errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusPreconditionFailed {
		return nil, 0, o.changed()
	}
	if err != nil {
		return nil, 0, failure(o.name, "input cannot be read", err)
	}
	if tag := tagOf(out.ETag); tag != "" {
		if o.tag != "" && tag != o.tag { // the server ignores If-Match
			_ = out.Body.Close()
			return nil, 0, o.changed()
		}
		o.tag = tag
	}
	o.size = aws.ToInt64(out.ContentLength)
	if whole := aws.ToString(out.ContentRange); whole != "" { // "bytes 0-9/100"
		_, total, _ := strings.Cut(whole, "/")
		if o.size, err = strconv.ParseInt(total, 10, 64); err != nil {
			_ = out.Body.Close()
			return nil, 0, failure(o.name, "the server does not say how large the object is", err)
		}
	}
	return out.Body, o.size, nil
}

func (o *object) changed() error { return input.Changed(o.name, "it was overwritten") }

// Final reports whether the server answered with an error. An answer that was cut off is not final.
func (o *object) Final(err error) bool { return errors.As(err, new(*job.Error)) }

// Incomplete returns the error of an object that did not arrive in several tries.
func (o *object) Incomplete(err error) error {
	return failure(o.name, "input does not arrive completely", err)
}
