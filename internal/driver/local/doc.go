// Package local is the driver for one machine: an allocation is a share of its cores and
// memory, and each of its nodes is one worker process.
//
// Workers run in sessions of their own, so that they outlive a coordinator that dies. Each
// allocation has a folder with the information by which a later coordinator finds them. A worker
// that dies is started again with the same rank, and finds the scratch folder and the map outputs
// of the earlier one.
//
// Drivers of other machines use this one for the processes that hold their workers (packages ssh
// and ec2). An allocation that does not fit waits until others have ended.
package local
