// Package bucket reads, writes and lists objects in S3, or in what answers as S3 does. Objects have names of the form s3://BUCKET/KEY.
//
// Region, credentials and endpoint are those that the SDK finds on the machine on which it runs: environment, files of the user, the machine's role.
// The SDK tries calls again that are throttled or meet a server's error. An object is there whole or not at all.
package bucket
