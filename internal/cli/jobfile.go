package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"berth/internal/job"
	"berth/internal/job/parse"
	"berth/internal/streaming"
)

// File is a parsed job file. Its spec is not normalised, has no Dir, and for a
// MapReduce job no more than Kind, Name and Request: what [mapreduce] says is kept as
// the settings that the flags of the same names would make, for package streaming.
type File struct {
	Name     string // of the file, for errors
	Dir      string // "dir": relative to the folder of the file; empty: the current folder
	JobName  string
	Kind     job.Kind
	Ask      parse.Ask           // [request]
	Bag      *job.BagSpec        // [bag]
	Sources  parse.BagSources    // [bag]: each_line, array, entries, lists
	Settings []streaming.Setting // [mapreduce]

	command []string // of the bag, before placeholders are added
	lines   map[string]int
	unknown int // keys
}

// ParseFile parses a job file (TOML). Unknown keys, values of a wrong type and
// values that cannot be taken are errors that name the line; all are told at once,
// joined. name is what errors call the file. See testdata/bag.toml and
// testdata/mapreduce.toml for every key.
func ParseFile(name string, data []byte) (*File, error) {
	var root map[string]any
	if err := toml.Unmarshal(data, &root); err != nil {
		return nil, syntaxError(name, err)
	}
	f := &File{Name: name, lines: keyLines(data)}
	var c problems
	f.table(&c, "", root, topKeys)
	f.finish(&c)
	if len(c) > 0 {
		return nil, errors.Join(c...)
	}
	return f, nil
}

func syntaxError(name string, err error) error {
	e := job.ConfigError(name, strings.TrimPrefix(err.Error(), "toml: "), "")
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, _ := decode.Position()
		e.Where = fmt.Sprintf("%s:%d", name, row)
	}
	return e
}

// fileKey is a key that a table of a job file may have.
type fileKey struct {
	name string
	take func(f *File, where string, value any) error
}

// table takes the keys of a table in the order of their lines.
func (f *File) table(c *problems, prefix string, values map[string]any, keys []fileKey) {
	names := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if d := f.lines[prefix+a] - f.lines[prefix+b]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		where := f.where(prefix + name)
		i := slices.IndexFunc(keys, func(k fileKey) bool { return k.name == name })
		if i < 0 {
			f.unknown++
			*c = append(*c, unknownKey(where, name, keys))
			continue
		}
		if err := keys[i].take(f, where, values[name]); err != nil {
			*c = append(*c, err)
		}
	}
}

// where returns file:line of a key, "a.b"; the file alone where the line is not known.
func (f *File) where(key string) string {
	if line := f.lines[key]; line > 0 {
		return fmt.Sprintf("%s:%d", f.Name, line)
	}
	return f.Name
}

func unknownKey(where, name string, keys []fileKey) error {
	known := make([]string, len(keys))
	for i, k := range keys {
		known[i] = k.name
	}
	return job.ConfigError(where, fmt.Sprintf("unknown key %q", name), parse.DidYouMean(name, known))
}

// finish checks what no single key can. What a key says that was refused is not missed.
func (f *File) finish(c *problems) {
	switch {
	case f.Kind == "" && f.lines["kind"] > 0:
	case f.Kind == "":
		f.missing(c, "kind", `write kind = "bag" or kind = "mapreduce"`)
	case f.Kind == job.Bag && f.Bag == nil && f.lines["bag"] == 0:
		f.missing(c, "[bag]", "a job of kind bag needs it")
	case f.Kind == job.MapReduce && f.lines["mapreduce"] == 0:
		f.missing(c, "[mapreduce]", "a job of kind mapreduce needs it")
	case f.Kind == job.Bag && f.lines["mapreduce"] > 0:
		*c = append(*c, job.ConfigError(f.where("mapreduce"), "a job of kind bag has no [mapreduce]", ""))
	case f.Kind == job.MapReduce && f.Bag != nil:
		*c = append(*c, job.ConfigError(f.where("bag"), "a job of kind mapreduce has no [bag]", ""))
	case f.Kind == job.Bag && f.Bag != nil:
		f.finishBag(c)
	}
}

// missing tells of a key that is not there, unless one with an unknown name may have been meant.
func (f *File) missing(c *problems, what, do string) {
	if f.unknown > 0 {
		return
	}
	*c = append(*c, job.ConfigError(f.Name, what+" is missing", do))
}

func (f *File) finishBag(c *problems) {
	if err := f.Sources.Check(); err != nil {
		*c = append(*c, err)
	}
	array := f.Sources.Array != nil
	switch {
	case len(f.command) == 0 && f.lines["bag.command"] > 0:
		return // it was refused
	case array && (len(f.command) == 0 || len(f.command) == 1 && f.command[0] == "{}"):
		f.missing(c, "bag.command", "array indices are no commands themselves")
		return
	case len(f.command) == 0:
		f.missing(c, "bag.command", `where the entries are commands themselves, write command = "{}"`)
		return
	}
	f.Bag.Array = array
	f.Bag.Command, f.Bag.Shell = job.BagCommand(f.command, array)
	if array && f.Bag.Throttle == 0 {
		f.Bag.Throttle = f.Sources.Array.Throttle
	}
}

// BagJob returns the spec of a file of kind bag, for a user who stands in dir. It has
// neither entries nor environment yet and is not normalised.
func (f *File) BagJob(dir string) (*job.Spec, error) {
	s := job.New(job.Bag, dir)
	s.Name, s.Bag = f.JobName, f.Bag
	return s, f.Ask.Apply(s)
}

// problems are what is wrong with a file.
type problems []error
