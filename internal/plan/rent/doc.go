// Package rent looks at the plan of a bag on rented machines again while the bag runs (Decide): whether further machines are to be
// rented, as the bag would be late, or machines are to be given back, as they cost more than they are worth.
//
// The prediction is that of package plan/front, of what is left: machines that are there have no time to boot, those that compute
// begin no task at once. Times are seconds since the run began, money is in the currency of the prices.
package rent
