package main

import "time"

// step is a measurement: a target of make.
type step struct {
	name     string // in lines and names of files
	target   string
	variable string        // of make, with flags for the command; empty: it has none
	full     string        // these flags in a night
	quick    string        // those with -quick; empty: it is left out then
	keeps    bool          // the command goes on with the results in the folder of -out
	takes    time.Duration // about, on two cores
}

// steps are in the order in which they run: what is short and shows most comes first, what needs most of the night last.
var steps = []step{
	{name: "load", target: "load", variable: "LOAD", quick: "-workers 100 -tasks 5000 -many 50000", takes: 5 * time.Minute},
	{name: "phases-sim", target: "phases-sim", variable: "PHASES_SIM", takes: 5 * time.Minute},
	{name: "fleet", target: "fleet", variable: "FLEET", quick: "-quick", keeps: true, takes: 25 * time.Minute},
	{name: "trace", target: "trace", variable: "TRACE", full: "-repeat 3", takes: 15 * time.Minute},
	{name: "trace-overhead", target: "trace", variable: "TRACE", full: "-overhead -repeat 15", takes: 10 * time.Minute},
	{name: "trace-bags", target: "trace-bags", variable: "TRACE", takes: 10 * time.Minute},
	{name: "stragglers-sim", target: "stragglers-sim", variable: "STRAGGLERS_SIM", takes: 20 * time.Minute},
	{name: "gangs", target: "gangs", variable: "GANGS", quick: "-gangs 6 -small 100 -repeat 1", keeps: true, takes: 35 * time.Minute},
	{name: "turnaround", target: "turnaround", variable: "TURNAROUND", quick: "-only empty -strategies berth,a", keeps: true, takes: 35 * time.Minute},
	{name: "bench", target: "bench", takes: 40 * time.Minute},
	{name: "phases", target: "phases", variable: "PHASES", full: "-size 16 -repeat 10", quick: "-quick -schedulers slots,phases -parts alone -only sort",
		keeps: true, takes: time.Hour},
	{name: "stragglers", target: "stragglers", variable: "STRAGGLERS", full: "-rules nothing,berth -repeat 10", quick: "-quick -rules nothing,berth", keeps: true,
		takes: 90 * time.Minute},
	{name: "turnaround-drawn", target: "turnaround", variable: "TURNAROUND", full: "-drawn 60 -repeat 3", keeps: true, takes: 2 * time.Hour},
	{name: "engines", target: "engines", variable: "ENGINES", full: "-repeat 6", quick: "-only maps -calls 100", keeps: true, takes: 5 * time.Hour},
}
