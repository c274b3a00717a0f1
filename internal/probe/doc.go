// Package probe measures a running task: the phases it goes through with their
// bytes, records, CPU time and peak memory, and what its processes use now.
//
// A Meter takes what the task itself tells (it implements the data path's
// Progress) and what the worker learns about the task's child processes. Groups
// reads the latter from /proc (proc(5)). Nothing here decides anything.
package probe
