// Package local is the driver for one machine: an allocation is a share of its
// cores and memory, a node of it is one worker process.
//
// Workers are started in sessions of their own, so that they outlive a
// coordinator that dies; what is needed to find them again is kept in a folder
// per allocation. A worker that dies is started again on the same rank, where it
// finds the scratch folder and the map outputs of the one before it.
package local
