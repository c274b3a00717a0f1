package job

import "strings"

// objectScheme is the prefix of the names of objects in S3.
const objectScheme = "s3://"

// IsObject reports whether a name is that of an object in S3 or a prefix of such names: s3://BUCKET/KEY.
func IsObject(name string) bool { return strings.HasPrefix(name, objectScheme) }

// Object returns a URI of S3 in the form s3://BUCKET/KEY, without slashes at its end. It also accepts Hadoop's schemes s3a and s3n. is is false
// for any other name, which is returned unchanged.
func Object(uri string) (name string, is bool) {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found || scheme != "s3" && scheme != "s3a" && scheme != "s3n" {
		return uri, false
	}
	return objectScheme + strings.TrimRight(rest, "/"), true
}

// CutObject splits the name of an object into its bucket and its key.
func CutObject(name string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(name, objectScheme), "/")
	return bucket, key
}
