package bucket

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const (
	partSize = 16 << 20 // bytes of a file that are sent by one request
	maxParts = 10_000   // of one object: the limit of S3
)

// Upload is a file that is to become an object. The object appears at once when Finish is called.
type Upload struct {
	place
	path  string
	id    *string // nil: the file is small, and Finish sends it
	parts []types.CompletedPart
}

// Begin sends a file in parts, without creating the object. A small file is sent by Finish.
func Begin(ctx context.Context, name, path string) (*Upload, error) {
	file, err := os.Open(path)
	var info fs.FileInfo
	if err == nil {
		defer file.Close() // only read
		info, err = file.Stat()
	}
	if err != nil {
		return nil, failure(name, "what is to be written there cannot be read", err)
	}
	p, err := at(ctx, name)
	if err != nil {
		return nil, err
	}
	u := &Upload{place: p, path: path}
	if info.Size() <= partSize {
		return u, nil
	}
	if err := u.send(ctx, file, info.Size()); err != nil {
		u.Abort(context.WithoutCancel(ctx))
		return nil, failure(name, "cannot be written", err)
	}
	return u, nil
}

// send sends a file in parts.
func (u *Upload) send(ctx context.Context, file io.ReaderAt, size int64) error {
	begun, err := u.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &u.bucket, Key: &u.key})
	if err != nil {
		return err
	}
	u.id = begun.UploadId
	step := max(partSize, (size+maxParts-1)/maxParts)
	for at := int64(0); at < size; at += step {
		n := aws.Int32(int32(len(u.parts) + 1)) //nolint:gosec // at most maxParts
		part, err := u.UploadPart(ctx, &s3.UploadPartInput{Bucket: &u.bucket, Key: &u.key, UploadId: u.id, PartNumber: n,
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
	if u.id == nil {
		return u.put(ctx)
	}
	_, err := u.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &u.bucket, Key: &u.key, UploadId: u.id,
		MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts}})
	return failure(u.name, "cannot be written", err)
}

// put sends a small file.
func (u *Upload) put(ctx context.Context) error {
	file, err := os.Open(u.path)
	if err != nil {
		return failure(u.name, "what is to be written there cannot be read", err)
	}
	defer file.Close() // only read
	_, err = u.PutObject(ctx, &s3.PutObjectInput{Bucket: &u.bucket, Key: &u.key, Body: file})
	return failure(u.name, "cannot be written", err)
}

// Abort removes the parts of an upload that is not finished.
func (u *Upload) Abort(ctx context.Context) {
	if u.id != nil {
		_, _ = u.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &u.bucket, Key: &u.key, UploadId: u.id}) // if this fails, it is aborted when the job ends
	}
}

// Mark creates an empty object. If alone is set, it creates none if an object with this name exists. It returns whether it created the object.
func Mark(ctx context.Context, name string, alone bool) (is bool, err error) {
	p, err := at(ctx, name)
	if err != nil {
		return false, err
	}
	in := &s3.PutObjectInput{Bucket: &p.bucket, Key: &p.key, Body: bytes.NewReader(nil)}
	if alone {
		in.IfNoneMatch = aws.String("*")
	}
	_, err = p.PutObject(ctx, in)
	if code, _ := answer(err); code == "PreconditionFailed" || code == "ConditionalRequestConflict" {
		return false, nil
	}
	return err == nil, failure(name, "cannot be written", err)
}
