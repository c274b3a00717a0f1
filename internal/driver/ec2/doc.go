// Package ec2 is the driver for machines that are rented from Amazon's EC2, or whatever speaks its API, for as long as an allocation lasts.
//
// It rents machines, waits until their ssh server answers, and gives them back; all else is that of hosts which ssh reaches (package ssh, whose workers the
// local driver holds). Nothing that was rented is forgotten:
//
//   - what is to be rented is in the allocation's ledger, on disk, before the call that rents it (order), and each machine has tags from that call on, which
//     say whose it is, for which allocation, and by which order;
//   - a coordinator that comes after one that died finds by these tags what the ledger does not know yet, and what no allocation wants any more;
//   - a machine shuts itself down, and is gone then, once no worker of berth has run on it for ten minutes (user data), which needs nobody else.
//
// What is to be done is decided in pure steps over the ledger (decide.go); rental carries it out. A budget is kept by ending machines before
// the next unit of time begins that would cost more than it.
package ec2
