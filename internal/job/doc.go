// Package job holds what a user asks for and what it is made of: the spec of a
// job, its tasks, their attempts and phases, and the resources they need.
//
// Everything here is a value. The package reads no file, clock or network and
// imports nothing of berth's; every other package may import it. Input that a
// user wrote (sizes, durations, arrays, job files) is parsed and validated here,
// and what is wrong with it is told as an *Error.
package job
