// Command gangs compares berth with HyperQueue on a bag of gangs of 2 to 6 whole nodes among many small tasks, on the eight nodes of a private
// Slurm cluster of this machine:
//
//	make gangs GANGS="-repeat 3"
//
// All nodes are this machine, so the tasks sleep. Each writes when it began and ended, and all figures are made of that alone. Both get the eight
// nodes in one allocation, and the same tasks in the same order. Of the tasks' times they know nothing beforehand. HyperQueue runs once with equal
// priorities, and once with a higher one for gangs.
package main
