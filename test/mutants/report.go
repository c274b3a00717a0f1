package main

import (
	"cmp"
	"fmt"
	"io"
)

// outcomes are those that a finished report can have, in the order of the table's columns.
var outcomes = []Outcome{Killed, Survived, Unsure, Gone, Invalid, Skipped}

// printTable prints the number of mutants by package and outcome, and the mutants that were not killed.
func printTable(w io.Writer, r *Report) {
	count := map[string]map[Outcome]int{}
	for _, res := range r.Results {
		for _, row := range []string{res.Package, "all"} {
			if count[row] == nil {
				count[row] = map[Outcome]int{}
			}
			count[row][res.Outcome]++
		}
	}
	fmt.Fprintf(w, "\nseed %d, commit %s\n\n| package | mutants |", r.Seed, r.Commit)
	for _, o := range outcomes {
		fmt.Fprintf(w, " %s |", o)
	}
	fmt.Fprint(w, "\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, row := range append(r.Packages, "all") {
		sum := 0
		for _, o := range outcomes {
			sum += count[row][o]
		}
		fmt.Fprintf(w, "| %s | %d |", row, sum)
		for _, o := range outcomes {
			fmt.Fprintf(w, " %d |", count[row][o])
		}
		fmt.Fprintln(w)
	}
	for _, o := range outcomes[1:] {
		if count["all"][o] > 0 {
			fmt.Fprintf(w, "\n%s:\n", o)
		}
		for _, res := range r.Results {
			if res.Outcome == o {
				fmt.Fprintf(w, "- %s %s\n", res.Mutant, res.Where)
			}
		}
	}
}

// printDifference prints the mutants whose outcome is another one than before.
func printDifference(w io.Writer, before, after *Report) {
	same := 0
	fmt.Fprintf(w, "\nother outcomes than at commit %s:\n", before.Commit)
	for i, now := range after.Results {
		was := before.Results[i]
		if was.Outcome == now.Outcome || now.Outcome == Skipped {
			same++
			continue
		}
		fmt.Fprintf(w, "- %s → %s: %s %s\n  before: %s; now: %s\n", was.Outcome, now.Outcome, now.Mutant, now.Where,
			cmp.Or(was.By, "no test"), cmp.Or(now.By, "no test"))
	}
	fmt.Fprintf(w, "%d of %d outcomes are the same or were not asked for\n", same, len(after.Results))
}
