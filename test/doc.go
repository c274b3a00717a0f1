// Package test holds the tests of berth as a whole: the program as users run it,
// real processes, real sockets, real files, and real kills.
package test
