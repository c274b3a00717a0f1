// Package moto is a cloud for tests. It runs moto's server, which implements EC2's API, and for each
// instance a real ssh server on this machine, which accepts the keys of the instance's user data
// (package fleet). A proxy between berth and moto can answer calls with errors. Start starts a
// cloud.
//
// A Bucket is the same server with S3's API.
package moto
