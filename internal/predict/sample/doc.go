// Package sample says which tasks of a bag that never ran are tried on which types of machines, and what follows for all tasks on all
// types (BaTS: Oprescu, Kielmann, "Bag-of-Tasks Scheduling under Budget Constraints", CloudCom 2010; Oprescu, Kielmann, Leahu, "Budget
// Estimation and Control for Bag-of-Tasks Scheduling in Clouds", Parallel Processing Letters 21, 2011).
//
// Some tasks are tried on every type: they tell how much faster one is than another. All others are tried once, on one type, and
// their times are carried over to the others by linear regression. So every type has a mean over some thirty tasks, and few are done twice.
package sample
