// Package simulation implements the command berth simulate run: it registers its flags, reads the
// input, shows the progress, and writes the results to the terminal and to files. The command makes
// the options, lets them Register its flags, and calls Run with the arguments:
//
//	var options simulation.Scenario
//	options.Register(cmd.Flags())
//	err := options.Run(ctx, console, args)
//
// The package must not simulate by itself: packages sim and scenario do. Before a simulation starts,
// flags, logs and the folders of the output files have been checked. Either all output files are
// written or none. The commands of the laboratory use the same Console and files.
package simulation
