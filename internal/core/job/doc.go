// Package job defines the values that describe a job: its spec, tasks, attempts, phases and
// the resources that they need.
//
// A spec is made in three steps. New returns one with the defaults of its kind, package job/parse
// or package streaming fills in what the user wrote, and then
//
//	s.Normalize()
//	err := s.Validate()
//
// resolves paths, fills in the remaining defaults and reports every mistake as an *Error.
//
// The package must not read a file, a clock or the network, and it imports no other package of
// berth, so that every other package can import it.
package job
