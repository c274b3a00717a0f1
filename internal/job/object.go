package job

import "strings"

// objectScheme is what the names of objects in S3 begin with.
const objectScheme = "s3://"

// IsObject reports whether a name is that of an object in S3, or of all objects whose names begin so: s3://BUCKET/KEY.
func IsObject(name string) bool { return strings.HasPrefix(name, objectScheme) }

// Object returns a URI of S3 as IsObject knows it, without slashes at its end. Hadoop also calls the scheme s3a and s3n. is is false for other names.
func Object(uri string) (name string, is bool) {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found || scheme != "s3" && scheme != "s3a" && scheme != "s3n" {
		return uri, false
	}
	return objectScheme + strings.TrimRight(rest, "/"), true
}

// CutObject parts the name of an object into its bucket and its key there.
func CutObject(name string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(name, objectScheme), "/")
	return bucket, key
}
