// Package simulation implements the commands berth simulate: it registers their flags, reads the
// input, shows the progress, and writes the results to the terminal and to files. A command makes an
// options struct (SWF, Scenario, Phases, Stragglers or an Experiment), lets it Register its flags,
// and calls Run with the arguments:
//
//	var options simulate.SWF
//	options.Register(cmd.Flags())
//	err := options.Run(ctx, console, args[0])
//
// The package must not simulate by itself: packages sim, scenario and evaluate do. Before a
// simulation starts, flags, logs and the folders of the output files have been checked. Either all
// output files are written or none.
package simulation
