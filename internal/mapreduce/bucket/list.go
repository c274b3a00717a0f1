package bucket

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// List calls each for every object whose name begins with prefix, in the order of their names, with the size in bytes and the entity tag. Marks of folders, which are
// empty and whose names end with a slash, are left out.
func List(ctx context.Context, prefix string, each func(name string, size int64, tag string)) error {
	p, err := at(ctx, prefix)
	if err != nil {
		return err
	}
	root := strings.TrimSuffix(strings.TrimSuffix(prefix, p.key), "/") + "/" // the name of the bucket alone is a prefix, too
	pages := s3.NewListObjectsV2Paginator(p, &s3.ListObjectsV2Input{Bucket: &p.bucket, Prefix: &p.key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return failure(prefix, "cannot be listed", err)
		}
		for _, o := range page.Contents {
			if k := aws.ToString(o.Key); aws.ToInt64(o.Size) > 0 || !strings.HasSuffix(k, "/") {
				each(root+k, aws.ToInt64(o.Size), tagOf(o.ETag))
			}
		}
	}
	return nil
}

// Tag returns the entity tag of an object.
func Tag(ctx context.Context, name string) (string, error) {
	p, err := at(ctx, name)
	if err != nil {
		return "", err
	}
	out, err := p.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &p.bucket, Key: &p.key})
	if err != nil {
		return "", failure(name, "input cannot be read", err)
	}
	return tagOf(out.ETag), nil
}

// tagOf returns an entity tag without its quotes, which some servers leave out of lists, or "" for a weak one, which a request cannot demand.
func tagOf(tag *string) string {
	t := aws.ToString(tag)
	if strings.HasPrefix(t, "W/") {
		return ""
	}
	return strings.Trim(t, `"`)
}

// Any reports whether there is an object whose name begins with prefix.
func Any(ctx context.Context, prefix string) (bool, error) {
	p, err := at(ctx, prefix)
	if err != nil {
		return false, err
	}
	page, err := p.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &p.bucket, Prefix: &p.key, MaxKeys: aws.Int32(1)})
	if err != nil {
		return false, failure(prefix, "cannot be listed", err)
	}
	return len(page.Contents) > 0, nil
}

// Remove removes an object. It returns no error if the object does not exist.
func Remove(ctx context.Context, name string) error {
	p, err := at(ctx, name)
	if err != nil {
		return err
	}
	_, err = p.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &p.bucket, Key: &p.key})
	return failure(name, "cannot be removed", err)
}

// GiveUp aborts all uploads to names that begin with prefix, which killed processes have left.
func GiveUp(ctx context.Context, prefix string) error {
	p, err := at(ctx, prefix)
	if err != nil {
		return err
	}
	var left []types.MultipartUpload
	pages := s3.NewListMultipartUploadsPaginator(p, &s3.ListMultipartUploadsInput{Bucket: &p.bucket, Prefix: &p.key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return failure(prefix, "uploads that were begun cannot be listed", err)
		}
		left = append(left, page.Uploads...)
	}
	for _, u := range left {
		_, err := p.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &p.bucket, Key: u.Key, UploadId: u.UploadId})
		if code, _ := answer(err); err != nil && code != "NoSuchUpload" {
			return failure(prefix, "an upload that was begun cannot be ended", err)
		}
	}
	return nil
}
