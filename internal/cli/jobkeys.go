package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/job/parse"
	"berth/internal/streaming"
)

// The keys of a job file, table by table. Names are those of the long flags, with
// underscores for hyphens and between words. topKeys is filled in init, as its
// functions refer to the tables below it.
var (
	topKeys     []fileKey
	requestKeys []fileKey
	bagKeys     = []fileKey{
		{"command", takeCommand},
		{"each_line", source(func(f *File) *string { return &f.Sources.EachLine })},
		{"array", takeArray},
		{"entries", takeEntries},
		{"lists", takeLists},
		{"null", flag(func(f *File) *bool { return &f.Sources.Null })},
		{"no_run_if_empty", flag(func(f *File) *bool { return &f.Sources.SkipEmpty })},
		{"retries", count(0, math.MaxInt16, func(f *File) *int { return &f.Bag.Retries })},
		{"max_fails", count(-1, math.MaxInt32, func(f *File) *int { return &f.Bag.MaxFails })},
		{"throttle", count(0, math.MaxInt32, func(f *File) *int { return &f.Bag.Throttle })},
		{"time_limit", limit(func(f *File) *time.Duration { return &f.Bag.TimeLimit })},
		{"stdout", str(func(f *File) *string { return &f.Bag.Stdout })},
		{"stderr", str(func(f *File) *string { return &f.Bag.Stderr })},
		{"joblog", takeJoblog},
		{"env", takeEnv},
	}
	mapReduceKeys = []fileKey{
		{"input", settings("input")},
		{"output", settings("output")},
		{"mapper", settings("mapper")},
		{"combiner", settings("combiner")},
		{"reducer", settings("reducer")},
		{"num_reduce_tasks", settings("numReduceTasks")},
		{"files", settings("files")},
		{"archives", settings("archives")},
		{"inputformat", settings("inputformat")},
		{"outputformat", settings("outputformat")},
		{"partitioner", settings("partitioner")},
		{"lazy_output", takeLazyOutput},
		{"mapdebug", settings("mapdebug")},
		{"reducedebug", settings("reducedebug")},
		{"cmdenv", pairs("cmdenv", "cmdenv")},
		{"conf", pairs("conf", "D")},
	}
)

func init() {
	topKeys = []fileKey{
		{"kind", takeKind},
		{"name", str(func(f *File) *string { return &f.JobName })},
		{"dir", str(func(f *File) *string { return &f.Dir })},
		{"request", subTable("request", &requestKeys)},
		{"bag", takeBag},
		{"mapreduce", subTable("mapreduce", &mapReduceKeys)},
	}
	options := parse.Options()
	for i := range options {
		if o := &options[i]; o.Name != "job-name" { // the file's own "name" says it
			requestKeys = append(requestKeys, fileKey{strings.ReplaceAll(o.Name, "-", "_"), option(o)})
		}
	}
}

func subTable(name string, keys *[]fileKey) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		values, ok := value.(map[string]any)
		if !ok {
			return wrongType(where, value, "a table, ["+name+"]")
		}
		var c problems
		f.table(&c, name+".", values, *keys)
		return c.join()
	}
}

func takeBag(f *File, where string, value any) error {
	if _, ok := value.(map[string]any); ok {
		f.Bag = job.New(job.Bag, "").Bag
	}
	return subTable("bag", &bagKeys)(f, where, value)
}

func takeKind(f *File, where string, value any) error {
	s, _ := value.(string)
	if job.Kind(s) != job.Bag && job.Kind(s) != job.MapReduce {
		return job.ConfigError(where, fmt.Sprintf("%v is no kind of job", value), `write "bag" or "mapreduce"`)
	}
	f.Kind = job.Kind(s)
	return nil
}

// option takes a value, or for an option that may be given several times a list.
func option(o *parse.Option) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		values, err := scalars(where, value)
		if err != nil {
			return err
		}
		if !o.Many && len(values) != 1 {
			return wrongType(where, value, "one value")
		}
		for _, v := range values {
			if err := o.Set(&f.Ask, where, v); err != nil {
				return err
			}
		}
		return nil
	}
}

func str(field func(*File) *string) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		s, ok := value.(string)
		if !ok || s == "" {
			return wrongType(where, value, "a string")
		}
		*field(f) = s
		return nil
	}
}

func takeJoblog(f *File, where string, value any) error {
	if value == "-" {
		return job.ConfigError(where, "standard output cannot take the log: the coordinator writes it", "name a file")
	}
	return str(func(f *File) *string { return &f.Bag.Joblog })(f, where, value)
}

// source is a string that says where entries come from.
func source(field func(*File) *string) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		f.Sources.Where = where
		return str(field)(f, where, value)
	}
}

func flag(field func(*File) *bool) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		b, ok := value.(bool)
		if !ok {
			return wrongType(where, value, "true or false")
		}
		*field(f) = b
		return nil
	}
}

func count(low, high int64, field func(*File) *int) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		n, ok := value.(int64)
		if !ok {
			return wrongType(where, value, "a whole number")
		}
		if n < low || n > high {
			return job.ConfigError(where, fmt.Sprintf("%d is not from %d to %d", n, low, high), "")
		}
		*field(f) = int(n)
		return nil
	}
}

func limit(field func(*File) *time.Duration) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		text, ok := scalar(value)
		if !ok {
			return wrongType(where, value, `a duration, as in "1h30m"`)
		}
		d, err := parse.Limit(where, text)
		*field(f) = d
		return err
	}
}

// takeCommand takes a string, which is one word, or a list of words.
func takeCommand(f *File, where string, value any) (err error) {
	f.command, err = stringList(where, value, "a string or a list of strings")
	return err
}

func takeArray(f *File, where string, value any) error {
	text, ok := scalar(value)
	if !ok {
		return wrongType(where, value, `indices, as in "1-10"`)
	}
	a, err := parse.Array(where, text)
	f.Sources.Array, f.Sources.Where = &a, where
	return err
}

// takeEntries takes a list of entries: values, or lists of as many values each.
func takeEntries(f *File, where string, value any) error {
	list, ok := value.([]any)
	if !ok {
		return wrongType(where, value, "a list")
	}
	entries := make([]job.Entry, len(list))
	for i, item := range list {
		columns, err := scalars(where, item)
		if err != nil {
			return err
		}
		if len(columns) == 0 || len(columns) != len(entries[0]) && i > 0 {
			return wrongType(where, value, "a list of entries with as many columns each")
		}
		entries[i] = columns
	}
	f.Sources.Entries, f.Sources.Where = entries, where
	return nil
}

// takeLists takes lists whose values are combined, as with several :::.
func takeLists(f *File, where string, value any) error {
	list, ok := value.([]any)
	if !ok {
		return wrongType(where, value, "a list of lists")
	}
	for _, item := range list {
		if _, ok := item.([]any); !ok {
			return wrongType(where, value, "a list of lists")
		}
		values, err := scalars(where, item)
		if err != nil {
			return err
		}
		f.Sources.Lists = append(f.Sources.Lists, parse.List{Values: values})
	}
	f.Sources.Where = where
	return nil
}

func takeEnv(f *File, where string, value any) error {
	return eachPair(where, value, func(name, v string) { f.Bag.Env = append(f.Bag.Env, name+"="+v) })
}

// settings takes a value, or a list of them, as flags of that name.
func settings(name string) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		values, err := scalars(where, value)
		if err != nil {
			return err
		}
		for _, v := range values {
			f.Settings = append(f.Settings, streaming.Setting{Name: name, Value: v, Where: where})
		}
		return nil
	}
}

func takeLazyOutput(f *File, where string, value any) error {
	lazy, ok := value.(bool)
	if !ok {
		return wrongType(where, value, "true or false")
	}
	if lazy {
		f.Settings = append(f.Settings, streaming.Setting{Name: "lazyOutput", Where: where})
	}
	return nil
}

// pairs takes a table of [mapreduce] as flags name=value.
func pairs(table, name string) func(*File, string, any) error {
	return func(f *File, where string, value any) error {
		return eachPair(where, value, func(key, v string) {
			f.Settings = append(f.Settings, streaming.Setting{Name: name, Value: key + "=" + v, Where: f.where("mapreduce." + table + "." + key)})
		})
	}
}

// eachPair calls add for the pairs of a table, in the order of their names. Tables
// in it are joined with a dot: mapreduce.job.reduces needs no quotes in TOML.
func eachPair(where string, value any, add func(name, value string)) error {
	table, ok := value.(map[string]any)
	if !ok {
		return wrongType(where, value, "a table of strings")
	}
	for _, name := range sortedKeys(table) {
		if inner, ok := table[name].(map[string]any); ok {
			if err := eachPair(where, inner, func(n, v string) { add(name+"."+n, v) }); err != nil {
				return err
			}
			continue
		}
		v, ok := scalar(table[name])
		if !ok {
			return wrongType(where, table[name], "a string as value of "+name)
		}
		add(name, v)
	}
	return nil
}
