// Package code is the part of the planter that only computes: which functions an ELF file for amd64 has, which
// of their entries a jump can displace without any change of what the program does, and the bytes to write.
//
// The package is pure: it reads what an io.ReaderAt gives it, and has no clock, file, goroutine or global
// random source.
package code
