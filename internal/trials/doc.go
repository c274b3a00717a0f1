// Package trials tries tasks of a bag that never ran on a host of each type of machines: it says which job each host is given, and reads
// from the runs of those jobs what package predict/sample makes estimates of.
package trials
