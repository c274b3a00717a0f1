// Command trace shows that planting changes nothing that a program does, and what it costs. It runs some
// hundred programs of Debian, each on a small case of its own (cases.txt, whose inputs input.go makes from a
// seed), once as they are and then several times with every function planted (berth trace stats), and compares
// standard output, standard error, exit codes and all files that are left. Programs that are not
// installed are told and counted; scripts/trace.sh installs them.
//
//	go run ./test/trace -berth bin/berth -repeat 20
//
// With -overhead it measures instead what planted functions cost five programs, in pairs of runs. With -find
// it narrows a case that fails down to the function whose planting makes it fail.
package main
