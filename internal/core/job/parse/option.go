package parse

import (
	_ "embed"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"berth/internal/core/job"
)

// Option is one setting of a job. The same table, options.txt, serves the flags of every command, the
// tables of job files and the lines of scripts. In a job file, underscores replace the hyphens of a name.
type Option struct {
	Table string // entry or bag: of bags; resume: of a job that goes on; request: of every job
	Name  string // long flag
	Short string // short flag; may be empty
	Arg   string // name of the value in the help text; empty if the option has no value
	Usage string
	Many  bool // may be given several times; each adds to the earlier ones
	Batch bool // used by batch systems only
	File  bool // if the value is the name of a file, the text of the file replaces it
	Stage bool // a stage of a job may have it
	Fixed bool // a resume cannot change it
	Live  bool // it can be changed while the job runs (Change)
	set   func(a *Ask, where, value string) error
}

// Ask collects options in the order in which they are given. Apply writes them into a spec, which may be that of
// an existing job: an option that may be given several times replaces all its values there, and --max-nodes and
// --max-time replace the bounds.
type Ask struct {
	Sources BagSources // of a bag's entries

	writes []func(*job.Spec) error
	given  map[string]string // flag or file:line of each option that was given

	capNodes int // from --max-nodes
	capTime  time.Duration
}

//go:embed options.txt
var optionsText string

// optionTable reads the table when it is asked for it first, as most processes need none.
var optionTable = sync.OnceValue(func() (all []Option) {
	own := ownSetters()
	for _, row := range Rows(optionsText) {
		for i := range row {
			if row[i] == "-" {
				row[i] = ""
			}
		}
		marked := func(mark string) bool { return strings.Contains(row[6], mark) }
		o := Option{Table: row[0], Name: row[1], Short: row[2], Arg: row[3], Usage: row[7], set: own[row[1]],
			Many: marked("many"), Batch: marked("batch"), File: marked("file"), Stage: marked("stage"), Fixed: marked("fixed"), Live: marked("live")}
		if o.set == nil {
			o.set = setter(o.Name, reader(row[4]), row[5])
		}
		all = append(all, o)
	}
	return all
})

// Rows returns the columns of the lines of a table, which are separated by TABs. Comments begin with #.
func Rows(table string) (rows [][]string) {
	for line := range strings.Lines(table) {
		if line[0] != '#' {
			rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
		}
	}
	return rows
}

// OptionsOf returns the options of some tables, in the order in which the help text lists them.
func OptionsOf(tables ...string) []Option {
	return slices.DeleteFunc(slices.Clone(optionTable()), func(o Option) bool { return !slices.Contains(tables, o.Table) })
}

// Options returns the options of every kind of job. Each of the batch systems adds the flag for its own arguments.
func Options(systems ...BatchSystem) []Option {
	all := OptionsOf("request")
	all[0].Usage = placeUsage(systems)
	for _, system := range systems {
		at := slices.IndexFunc(all, func(o Option) bool { return o.Name == "wall-time" })
		all = slices.Insert(all, at, system.option())
	}
	return all
}

// Set parses the value of one option and stores it in a. where is the flag or file:line that an error names.
func (o *Option) Set(a *Ask, where, value string) error {
	name := o.Name
	if strings.HasPrefix(where, "-") {
		name = where
	}
	do := "write " + name + " " + o.Arg
	switch {
	case o.Arg == "":
	case strings.TrimSpace(value) == "":
		if o.Arg == "FILE" || o.Arg == "TEMPLATE" {
			do = "name a file"
		}
		return job.ArgumentError(where, "the value is empty", do)
	case value == "--":
		return job.ArgumentError(where, "it is followed by -- in the place of its value", do)
	}
	return o.set(a, where, value)
}

// readers are what the table names as ways to read a value.
var readers = map[string]func(where, value string) (any, error){
	"text":     func(_, value string) (any, error) { return value, nil },
	"utf8":     of(utf8Text),
	"texts":    func(_, value string) (any, error) { return []string{value}, nil },
	"place":    func(_, value string) (any, error) { return strings.ToLower(value), nil },
	"names":    of(names),
	"hosts":    of(Hosts),
	"machines": of(machines),
	"jobs":     of(jobs),
	"flag":     of(Bool),
	"size":     of(Size),
	"time":     of(Duration),
	"limit":    of(Limit),
	"weight":   of(weight),
	"share":    of(share),
	"progress": of(Progress),
	"joblog":   of(joblog),
	"power":    of(NodePower),
	"rates":    of(NodeRates),
}

// utf8Text reads a text that is looked for among others as characters.
func utf8Text(where, value string) (string, error) {
	if !utf8.ValidString(value) {
		return "", job.ArgumentError(where, fmt.Sprintf("%q is not a text in UTF-8", value), "write another one")
	}
	return value, nil
}

func of[T any](read func(where, value string) (T, error)) func(where, value string) (any, error) {
	return func(where, value string) (any, error) { return read(where, value) }
}

// reader returns the way to read a value that the table describes: a name, a kind of number and its bounds, or words.
func reader(kind string) func(where, value string) (any, error) {
	words := append(strings.Fields(kind), strconv.Itoa(math.MaxInt32))
	switch words[0] {
	case "whole":
		low, _ := strconv.Atoi(words[1]) // as in the table
		high, _ := strconv.Atoi(words[2])
		return func(where, value string) (any, error) { return Count(where, value, low, high) }
	case "number":
		low, _ := strconv.ParseFloat(words[1], 64) // as in the table
		high, _ := strconv.ParseFloat(words[2], 64)
		return func(where, value string) (any, error) { return number(where, value, low, high) }
	case "words":
		return func(where, value string) (any, error) { return word(where, value, strings.Split(words[1], ",")) }
	}
	return readers[kind]
}

// setter returns how an option is set whose value has one place in the spec, named by keys of JSON.
func setter(name string, read func(where, value string) (any, error), keys string) func(*Ask, string, string) error {
	return func(a *Ask, where, value string) error {
		v, err := read(where, value)
		first := a.first(name, where)
		a.write(func(s *job.Spec) error {
			to, from := s.Field(keys), reflect.ValueOf(v)
			switch {
			case !to.IsValid(): // a job of another kind
			case to.Kind() != reflect.Slice:
				to.Set(from.Convert(to.Type()))
			default:
				if first {
					to.SetZero()
				}
				to.Set(reflect.AppendSlice(to, from))
			}
			return nil
		})
		return err
	}
}

// write remembers what Apply does.
func (a *Ask) write(do func(*job.Spec) error) { a.writes = append(a.writes, do) }

// first remembers where an option was given, and returns whether it was not given before.
func (a *Ask) first(option, where string) bool {
	if a.given == nil {
		a.given = make(map[string]string)
	}
	_, again := a.given[option]
	a.given[option] = where
	return !again
}

// Apply writes the options into the spec.
func (a *Ask) Apply(s *job.Spec) error {
	r := &s.Request
	if a.capNodes > 0 && a.given["nodes"] == "" {
		r.MinNodes, r.MaxNodes = 0, 0
	}
	if a.capTime > 0 && a.given["time"] == "" {
		r.MaxTime = 0
	}
	for _, write := range a.writes {
		if err := write(s); err != nil {
			return err
		}
	}
	if a.capNodes > 0 {
		if r.MinNodes > a.capNodes {
			return job.ArgumentError(a.given["nodes"], fmt.Sprintf("at least %d nodes are requested, but max-nodes allows %d", r.MinNodes, a.capNodes), "request fewer nodes, or raise max-nodes")
		}
		if r.MaxNodes == 0 || r.MaxNodes > a.capNodes {
			r.MaxNodes = a.capNodes
		}
	}
	if a.capTime > 0 && (r.MaxTime == 0 || r.MaxTime > a.capTime) {
		r.MaxTime = a.capTime
	}
	return nil
}

func number(where, value string, low, high float64) (float64, error) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(n >= low && n <= high) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a number in the allowed range", value), fmt.Sprintf("write a number from %g to %g", low, high))
	}
	return n, nil
}

func weight(where, value string) (float64, error) {
	w, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !(w > 0 && w <= job.MaxWeight) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a valid weight", value), fmt.Sprintf("write a number above 0 and up to %d: 2 gives the job twice the share of a job with weight 1", job.MaxWeight))
	}
	return w, nil
}

// share parses a share above 0 and up to 1, written as 5% or 0.05.
func share(where, value string) (float64, error) {
	text, percent := strings.CutSuffix(strings.TrimSpace(value), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, job.ConfigError(where, fmt.Sprintf("%q is not a valid share", value), "write a share above 0% and up to 100%, as in 5%; for no duplicates use --stragglers abort or off")
	}
	return v, nil
}

// word reads one of some words, of which auto is said by an empty text in a spec.
func word(where, value string, known []string) (string, error) {
	value = strings.ToLower(strings.TrimSpace(value))
	if !slices.Contains(known, value) {
		last := len(known) - 1
		return "", job.ConfigError(where, fmt.Sprintf("%q is not one of its values", value), "write "+strings.Join(known[:last], ", ")+" or "+known[last])
	}
	return strings.TrimPrefix(value, "auto"), nil
}

// Count parses a whole number from low to high.
func Count(where, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(value))
	if err == nil && n >= low && n <= high {
		return n, nil
	}
	do := fmt.Sprintf("write a whole number from %d to %d", low, high)
	if high == math.MaxInt32 {
		do = fmt.Sprintf("write a whole number from %d", low)
	}
	return 0, job.ConfigError(where, fmt.Sprintf("%q is not a number in the allowed range", value), do)
}

// Bool parses true or false, as in Hadoop's keys and in job files. An
// empty value is true.
func Bool(where, value string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "true", "":
		return true, nil
	case "false":
		return false, nil
	}
	return false, job.ConfigError(where, fmt.Sprintf("%q is neither true nor false", value), "write true or false")
}
