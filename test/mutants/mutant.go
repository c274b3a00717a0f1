package main

import (
	"cmp"
	"fmt"
)

// Mutant describes one change of the source by words that stay true if files or packages move.
type Mutant struct {
	Package  string `json:"package"`  // last element of the import path
	Function string `json:"function"` // "f", or "T.m" of a method; empty for a declaration outside functions
	Line     string `json:"line"`     // the statement without its body and without needless space
	Nth      int    `json:"nth"`      // counts the equal statements of the function, from 0
	Kind     Kind   `json:"kind"`
	Place    int    `json:"place"` // counts the places in the statement where the kind applies, from 0
	Change   string `json:"change"`
}

// Kind is a kind of change.
type Kind string

// The kinds of changes.
const (
	Comparison Kind = "comparison" // another comparison operator
	Drop       Kind = "drop"       // an assignment, a call or the body of an if statement is left out
	Number     Kind = "number"     // an integer constant is one larger
	Boolean    Kind = "boolean"    // true for false, or the reverse
)

var kinds = []Kind{Comparison, Drop, Number, Boolean}

func (m Mutant) String() string {
	nth := ""
	if m.Nth > 0 || m.Place > 0 {
		nth = fmt.Sprintf(" (statement %d, place %d)", m.Nth+1, m.Place+1)
	}
	return fmt.Sprintf("%s %s: %s: in `%s`%s", m.Package, cmp.Or(m.Function, "declaration"), m.Change, m.Line, nth)
}

// Outcome says what the tests said about a mutant.
type Outcome string

// The outcomes.
const (
	Killed   Outcome = "killed"   // a test failed, or did not end in time
	Survived Outcome = "survived" // all tests passed
	Unsure   Outcome = "unsure"   // a test failed once, and passed when it was repeated
	Gone     Outcome = "gone"     // the source has no such place any more
	Invalid  Outcome = "invalid"  // the changed source does not compile
	Skipped  Outcome = "skipped"  // no test noticed it in the run that is repeated
)

// Result is a mutant and what became of it.
type Result struct {
	Mutant
	Outcome Outcome `json:"outcome"`
	Where   string  `json:"where,omitempty"` // file and line in the tree of the run
	By      string  `json:"by,omitempty"`    // "package: tests that failed", or how the package's tests ended
	Seconds float64 `json:"seconds"`
}

// Report is what a run writes.
type Report struct {
	Seed     uint64   `json:"seed"`
	Commit   string   `json:"commit"`
	Packages []string `json:"packages"`
	Results  []Result `json:"results"`
}
