// Package simulate is what the commands of berth simulate do: it registers their flags, says
// what is to be simulated, shows how far that is, and writes the result to the terminal and
// to files. A command makes an options struct (SWF, Scenario or an Experiment), lets it
// Register its flags, and calls Run with the arguments.
//
// It computes nothing: simulations are run by packages sim, scenario and evaluate. Nothing is
// simulated before flags, logs and the places of the files to write have been checked, and
// files are written all or none.
package simulate
