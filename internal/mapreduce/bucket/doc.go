// Package bucket reads, writes and lists objects in S3 and in servers that behave like S3. The names of objects have the form s3://BUCKET/KEY.
//
// A caller puts the environment of the job into the context ([With]). [Open] reads an object, [Begin] and [Upload.Finish] write one, [List] lists them. Settings that the
// job's environment lacks are those that the SDK finds on the machine: environment, files of the user, role. The SDK repeats requests that are throttled or fail on the
// server. An object appears complete or not at all.
package bucket
