// Package tomlfile reads TOML documents that people write: scenarios and job files. A document
// knows the line of each key, or the flag that set it. A reader asks the tables for their possible
// keys, and reports all errors at once. Each error is a *job.Error that says where the error is
// (file:line or flag) and what to write. For an unknown key it says which key was probably meant,
// or to which table the key belongs.
//
// The package opens no files, and knows no key.
package tomlfile
