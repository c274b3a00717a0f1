package streaming

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/job/parse"
	"berth/internal/driver/registry"
)

// Status is what berth does with a flag or key.
type Status string

// What berth does with a flag or key.
const (
	Works   Status = "works"   // does what it does in Hadoop
	NoWork  Status = "none"    // accepted silently: it tunes something that berth does not have
	Ignored Status = "ignored" // accepted with a warning
	Refused Status = "refused" // refused: without it the output would differ
)

// Flag is a flag of the command line.
type Flag struct {
	Name    string
	Short   string // one letter, for berth's own flags
	Arg     string // name of the value in help texts; empty: the flag has no value
	Key     string // key in the table [mapreduce] of job files; empty: there is none
	Meaning string
	Status  Status
	Generic bool // a generic option, which Hadoop accepts only before all others
	Own     bool // a flag of berth that Hadoop does not have
	Many    bool // the flag has all values up to the next flag
	Repeat  bool // the flag may be given several times
	effect
}

// effect is what becomes of the value of a flag or key.
type effect struct {
	kind  string // of the value; empty: it has a setter of its own, or none
	field string // in which the value is put (builder.field); empty: in none
}

// Usage returns the flag as users write it: "-input PATHS", "-N, --nodes MIN[-MAX]".
func (f Flag) Usage() string {
	usage := "-" + f.Name
	switch {
	case f.Own && f.Short != "":
		usage = "-" + f.Short + ", --" + f.Name
	case f.Own:
		usage = "--" + f.Name
	}
	if f.Arg != "" {
		usage += " " + f.Arg
	}
	return usage
}

//go:embed flags.txt
var flagsText string

// Flags returns all flags, Hadoop's first, in the order in which help shows them.
func Flags() []Flag { return flagTable() }

// flagTable reads the table when it is asked for it first, as most processes need none.
var flagTable = sync.OnceValue(func() (flags []Flag) {
	for _, row := range parse.Rows(flagsText) {
		marked := func(mark string) bool { return strings.Contains(row[1], mark) }
		f := Flag{Status: Status(row[0]), Key: strings.Trim(row[2], "-"), Meaning: row[4],
			Generic: marked("g"), Many: marked("m"), Repeat: marked("r"), Own: marked("o")}
		f.Name, f.Arg, _ = strings.Cut(row[3], " ")
		if len(row) > 5 {
			f.effect = effect{row[5], row[6]}
		}
		flags = append(flags, f)
	}
	at := slices.IndexFunc(flags, func(f Flag) bool { return f.Own })
	for i, o := range registry.Options() {
		flags = slices.Insert(flags, at+i, Flag{Name: o.Name, Short: o.Short, Arg: o.Arg, Own: true, Repeat: true, Status: Works, Meaning: o.Usage})
	}
	return flags
})

// findFlag returns the flag with a name, which may be a letter if short is set, or nil.
func findFlag(name string, short bool) *Flag {
	flags := Flags()
	for i := range flags {
		f := &flags[i]
		if f.Name == name || short && f.Short != "" && f.Short == name {
			return f
		}
	}
	return nil
}
