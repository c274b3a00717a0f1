package bucket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"berth/internal/core/job"
)

const (
	partSize = 16 << 20 // bytes of a file that are sent by one request
	maxParts = 10_000   // of one object: the limit of S3
)

// Upload is a file that is to become an object. The object appears at once when Finish is called.
type Upload struct {
	name, path  string
	bucket, key string
	id          *string // nil: the file is small, and Finish sends it
	parts       []types.CompletedPart
}

// Begin sends a file in parts, without creating the object. A small file is sent by Finish.
func Begin(ctx context.Context, name, path string) (u *Upload, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, failure(name, "what is to be written there cannot be read", err)
	}
	defer file.Close() // only read
	info, err := file.Stat()
	if err != nil {
		return nil, failure(name, "what is to be written there cannot be read", err)
	}
	u = &Upload{name: name, path: path}
	u.bucket, u.key = job.CutObject(name)
	if info.Size() <= partSize {
		return u, nil
	}
	c, err := client(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := u.send(ctx, c, file, info.Size()); err != nil {
		u.Abort(context.WithoutCancel(ctx))
		return nil, failure(name, "cannot be written", err)
	}
	return u, nil
}

// send sends a file in parts.
func (u *Upload) send(ctx context.Context, c *s3.Client, file io.ReaderAt, size int64) error {
	begun, err := c.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &u.bucket, Key: &u.key})
	if err != nil {
		return err
	}
	u.id = begun.UploadId
	step := max(partSize, (size+maxParts-1)/maxParts)
	for at := int64(0); at < size; at += step {
		n := aws.Int32(int32(len(u.parts) + 1)) //nolint:gosec // at most maxParts
		part, err := c.UploadPart(ctx, &s3.UploadPartInput{Bucket: &u.bucket, Key: &u.key, UploadId: u.id, PartNumber: n,
			Body: io.NewSectionReader(file, at, min(step, size-at))})
		if err != nil {
			return err
		}
		u.parts = append(u.parts, types.CompletedPart{PartNumber: n, ETag: part.ETag,
			ChecksumCRC32: part.ChecksumCRC32, ChecksumCRC64NVME: part.ChecksumCRC64NVME})
	}
	return nil
}

// Finish creates the object. It replaces an object with the same name.
func (u *Upload) Finish(ctx context.Context) error {
	c, err := client(ctx, u.name)
	if err != nil {
		return err
	}
	if u.id == nil {
		return u.put(ctx, c)
	}
	_, err = c.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &u.bucket, Key: &u.key, UploadId: u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts}})
	return failure(u.name, "cannot be written", err)
}

// put sends a small file.
func (u *Upload) put(ctx context.Context, c *s3.Client) error {
	file, err := os.Open(u.path)
	if err != nil {
		return failure(u.name, "what is to be written there cannot be read", err)
	}
	defer file.Close() // only read
	_, err = c.PutObject(ctx, &s3.PutObjectInput{Bucket: &u.bucket, Key: &u.key, Body: file})
	return failure(u.name, "cannot be written", err)
}

// Abort removes the parts of an upload that is not finished.
func (u *Upload) Abort(ctx context.Context) {
	if c, err := client(ctx, u.name); err == nil && u.id != nil {
		_, _ = c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.bucket, Key: &u.key, UploadId: u.id}) // if this fails, it is aborted when the job ends
	}
}

// gone reports whether an upload is over.
func gone(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == "NoSuchUpload"
}

// Mark creates an empty object. If alone is set, it creates none if an object with this name exists. It returns whether it created the object.
func Mark(ctx context.Context, name string, alone bool) (is bool, err error) {
	c, err := client(ctx, name)
	if err != nil {
		return false, err
	}
	bucket, key := job.CutObject(name)
	in := &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(nil)}
	if alone {
		in.IfNoneMatch = aws.String("*")
	}
	_, err = c.PutObject(ctx, in)
	var api smithy.APIError
	if errors.As(err, &api) && (api.ErrorCode() == "PreconditionFailed" || api.ErrorCode() == "ConditionalRequestConflict") {
		return false, nil
	}
	return err == nil, failure(name, "cannot be written", err)
}
