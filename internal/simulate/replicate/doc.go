// Package replicate repeats simulations with other random numbers until their means are known well
// enough, estimates these means with confidence intervals, and prints them in aligned columns:
//
//	runs, err := replicate.Run(ctx, limits, sample, enough)
//	mean := replicate.Mean(values)
//
// A result depends on the sample and the limits only, and not on how many workers there are.
package replicate
