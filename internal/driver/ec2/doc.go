// Package ec2 is the driver for machines that are rented from Amazon EC2, or from a provider with the same API, for the duration of an allocation.
//
// It rents machines, waits until their ssh servers answer, and ends them. Everything else works as for hosts that ssh reaches (packages ssh
// and local). It loses no rented machine:
//
//   - Before the call that rents machines, the allocation's ledger on disk records the order. The call sets tags on each machine: the owner, the
//     allocation and the order.
//   - After the death of a coordinator, a later one finds by these tags the machines that the ledger does not contain and those that no allocation needs.
//   - A machine without a worker of berth for ten minutes shuts itself down and is terminated (user data), even if no coordinator lives.
//
// Pure functions of the ledger decide what to do (decide.go); rental carries it out. To keep a budget, machines are ended before
// the next paid unit of time would exceed it. The driver does not choose the machines: packages plan/front and rent do.
package ec2
