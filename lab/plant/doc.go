// Command trace shows that planting does not change the behaviour of programs, and measures its
// cost. It runs some hundred programs of Debian, each on a small case (cases.txt, whose inputs
// input.go makes from a seed), first unchanged and then several times with every function planted
// (berth trace stats), and compares standard output, standard error, exit codes and all files. It
// lists and counts the programs that are not installed; scripts/trace.sh installs them.
//
//	go run ./lab/plant -berth bin/berth -repeat 20
//
// With -bags the cases are tasks of two bags instead, with --progress hits and without; with -mutate damaged programs are.
// With -overhead it instead measures the cost of planted functions in five programs, in pairs of
// runs. With -find it searches the function whose planting makes a case fail.
package main
