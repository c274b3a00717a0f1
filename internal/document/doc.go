// Package document reads documents that people write, in TOML: scenarios and job files. A document
// knows the line of each key, or the flag that stands in its place. A reader asks the tables for
// the keys that there may be, and reports all that is wrong at once: each error is a *job.Error
// that says where it is (file:line or flag) and what to write, and for a key that is not known
// which was meant, or to which table it belongs.
//
// The package opens no files, and knows no key.
package document
