// Package script reaches a scheduler for which berth has no package, by four executables in a folder that the user names (--on script:DIR):
// snapshot, submit, status and cancel. Each reads JSON and prints JSON; docs/scripts.md has the fields. The types are those of the requests
// and snapshots of all batch systems, and package batch does everything else.
//
// The folder is in the variable DirVar of the environment that is remembered for each cluster, so that one backend has any number of them.
package script
