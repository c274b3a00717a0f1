// Package cli turns the flags and arguments of berth's commands, and job files, into
// job specs and entries. It registers flags, reads the files that they name, and
// leaves what a value means to package job.
//
// A command makes an options struct, lets it Register its flags, and asks it for the
// spec once the flags are parsed. Values are checked then, not while they are parsed,
// so that every error is a *job.Error with advice instead of the flag library's text.
package cli
