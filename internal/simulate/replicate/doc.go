// Package replicate estimates means of simulations with other random numbers, with confidence intervals, and prints them in
// aligned columns:
//
//	mean := replicate.Mean(values)
package replicate
