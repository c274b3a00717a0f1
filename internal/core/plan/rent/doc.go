// Package rent adjusts the machines of a bag on rented machines while the bag runs (Decide): it rents further
// machines when the bag would be late, and gives machines back that cost more than they are worth. The coordinator
// calls Decide at intervals with a State, which it builds from the records of the run (Watch).
//
// The prediction for the remaining tasks is that of package plan/front: present machines have no time to boot, and
// busy ones begin no task at once. Times are seconds since the run began, money is in the currency of the prices. The
// package is pure: it has no clock, file, network, goroutine or random source.
package rent
