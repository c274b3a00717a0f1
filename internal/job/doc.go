// Package job holds what a user asks for and what it is made of: the spec of a
// job, its tasks, their attempts and phases, and the resources they need.
//
// Everything here is a value. The package reads no file, clock or network and
// imports nothing of berth's; every other package may import it. What a user
// wrote is parsed by package job/parse, and a spec that was made of it is checked
// here; what is wrong with it is told as an *Error.
package job
