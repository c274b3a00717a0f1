package streaming

import (
	_ "embed"
	"strings"
	"sync"

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
	for _, row := range rows(flagsText) {
		f := Flag{Status: Status(row[0]), Key: strings.Trim(row[2], "-"), Meaning: row[4]}
		f.Name, f.Arg, _ = strings.Cut(row[3], " ")
		f.Generic, f.Many, f.Repeat = strings.Contains(row[1], "g"), strings.Contains(row[1], "m"), strings.Contains(row[1], "r")
		flags = append(flags, f)
	}
	own := func(name, short, arg, meaning string) {
		flags = append(flags, Flag{Name: name, Short: short, Arg: arg, Own: true, Repeat: true, Status: Works, Meaning: meaning})
	}
	for _, o := range registry.Options() {
		own(o.Name, o.Short, o.Arg, o.Usage)
	}
	own("detach", "", "", "submit the job and return")
	own("hadoop-messages", "", "", "show the job as hadoop jar does, and write Hadoop's logs of it")
	own("json", "", "", "write JSON")
	return flags
})

// flagNames returns the names of all flags, for suggestions.
func flagNames() []string {
	flags := Flags()
	names := make([]string, len(flags))
	for i, f := range flags {
		names[i] = f.Name
	}
	return names
}

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
