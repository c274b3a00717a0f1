package moto

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// Bucket is a server of S3's API with one bucket.
type Bucket struct {
	Name string
	URL  string   // of the server
	Env  []string // environment of commands that use the bucket
	API  *s3.Client
	tb   testing.TB
}

// StartBucket starts an empty bucket that ends with the test.
func StartBucket(tb testing.TB) *Bucket {
	tb.Helper()
	b := &Bucket{Name: "shelf", URL: serve(tb), tb: tb}
	b.Env = []string{"AWS_ENDPOINT_URL=" + b.URL, "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null"}
	b.API = s3.New(s3.Options{Region: region, BaseEndpoint: aws.String(b.URL), UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})
	_, err := b.API.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &b.Name,
		CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: region}})
	check(tb, err)
	return b
}

// Put creates an object.
func (b *Bucket) Put(key, content string) {
	b.tb.Helper()
	_, err := b.API.PutObject(context.Background(), &s3.PutObjectInput{Bucket: &b.Name, Key: &key, Body: bytes.NewReader([]byte(content))})
	check(b.tb, err)
}

// Get returns the contents of an object.
func (b *Bucket) Get(key string) string {
	b.tb.Helper()
	out, err := b.API.GetObject(context.Background(), &s3.GetObjectInput{Bucket: &b.Name, Key: &key})
	check(b.tb, err)
	defer func() { _ = out.Body.Close() }() // only read
	text, err := io.ReadAll(out.Body)
	check(b.tb, err)
	return string(text)
}

// Keys returns the keys that begin with prefix, in order.
func (b *Bucket) Keys(prefix string) (keys []string) {
	b.tb.Helper()
	out, err := b.API.ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: &b.Name, Prefix: &prefix})
	check(b.tb, err)
	for _, o := range out.Contents {
		keys = append(keys, aws.ToString(o.Key))
	}
	return keys
}

// BeginUpload begins an upload to a key and leaves it unfinished.
func (b *Bucket) BeginUpload(key string) {
	b.tb.Helper()
	_, err := b.API.CreateMultipartUpload(context.Background(), &s3.CreateMultipartUploadInput{Bucket: &b.Name, Key: &key})
	check(b.tb, err)
}

// Uploads returns the number of uploads that are neither finished nor aborted.
func (b *Bucket) Uploads() int {
	b.tb.Helper()
	out, err := b.API.ListMultipartUploads(context.Background(), &s3.ListMultipartUploadsInput{Bucket: &b.Name})
	check(b.tb, err)
	return len(out.Uploads)
}
