// Package moto is a cloud for tests: moto's server, which answers as EC2 does, and for each instance that it reports a real server of ssh on this machine,
// which lets in whom the instance's user data says (package fleet). Between berth and moto is a proxy that can answer calls with errors.
//
// A Bucket is the same server, as it answers as S3 does.
package moto
