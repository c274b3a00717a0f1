// Package arch holds the tests of the architecture: that each package imports
// only what the row of its layer in docs/architecture.md allows, and that the packages marked
// pure there do nothing but decide. It has no code of its own.
package arch
