package bucket

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"berth/internal/core/job"
)

// List calls each for every object whose name begins with prefix, in the order of their names, with the size in bytes and the entity tag. Marks of folders, which are
// empty and whose names end with a slash, are left out.
func List(ctx context.Context, prefix string, each func(name string, size int64, tag string)) error {
	c, err := client(ctx, prefix)
	if err != nil {
		return err
	}
	bucket, key := job.CutObject(prefix)
	root := strings.TrimSuffix(strings.TrimSuffix(prefix, key), "/") + "/" // the name of the bucket alone is a prefix, too
	pages := s3.NewListObjectsV2Paginator(c, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &key})
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
	c, err := client(ctx, name)
	if err != nil {
		return "", err
	}
	bucket, key := job.CutObject(name)
	out, err := c.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
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
	c, err := client(ctx, prefix)
	if err != nil {
		return false, err
	}
	bucket, key := job.CutObject(prefix)
	page, err := c.ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &key, MaxKeys: aws.Int32(1)})
	if err != nil {
		return false, failure(prefix, "cannot be listed", err)
	}
	return len(page.Contents) > 0, nil
}

// Remove removes an object. It returns no error if the object does not exist.
func Remove(ctx context.Context, name string) error {
	c, err := client(ctx, name)
	if err != nil {
		return err
	}
	bucket, key := job.CutObject(name)
	_, err = c.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return failure(name, "cannot be removed", err)
}

// GiveUp aborts all uploads to names that begin with prefix, which killed processes have left.
func GiveUp(ctx context.Context, prefix string) error {
	c, err := client(ctx, prefix)
	if err != nil {
		return err
	}
	bucket, key := job.CutObject(prefix)
	var left []types.MultipartUpload
	pages := s3.NewListMultipartUploadsPaginator(c, &s3.ListMultipartUploadsInput{Bucket: &bucket, Prefix: &key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return failure(prefix, "uploads that were begun cannot be listed", err)
		}
		left = append(left, page.Uploads...)
	}
	for _, u := range left {
		_, err := c.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: u.Key, UploadId: u.UploadId})
		if err != nil && !gone(err) {
			return failure(prefix, "an upload that was begun cannot be ended", err)
		}
	}
	return nil
}
