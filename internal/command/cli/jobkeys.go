package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"berth/internal/command/stage"
	"berth/internal/compat/streaming"
	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/tomlfile"
	"berth/internal/driver/registry"
)

// The keys of a job file, table by table. Those of options are called as the long flags are, with
// underscores for hyphens; those of [mapreduce] are in the table of Hadoop Streaming's flags.
func (f *File) topKeys() []fileKey {
	bagKeys := append([]fileKey{{"command", f.takeCommand}, {"entries", f.takeEntries}, {"lists", f.takeLists}, {"env", pairsInto(&f.env)}}, optionKeys(parse.OptionsOf("entry", "bag"), &f.Ask)...)
	top := []fileKey{
		{"kind", f.takeKind}, {"name", text(&f.JobName)}, {"dir", text(&f.Dir)},
		{"request", f.keys(optionKeys(registry.Options(), &f.Ask))}, {"bag", f.keys(bagKeys)}, {"task", f.takeTasks}, {"mapreduce", f.keys(f.flagKeys())}, {"stages", f.keys(f.stages.keys())},
	}
	for _, name := range stage.Names {
		top = append(top, fileKey{name, f.keys(f.stages.of[name].keys())})
	}
	return top
}

// optionKeys are the keys for options.
func optionKeys(options []parse.Option, ask *parse.Ask) []fileKey {
	var keys []fileKey
	for i := range options {
		if o := &options[i]; o.Name != "job-name" { // the file's own "name" says it
			keys = append(keys, fileKey{strings.ReplaceAll(o.Name, "-", "_"), option(o, ask)})
		}
	}
	return keys
}

// flagKeys are the keys for those of Hadoop Streaming's flags that job files have.
func (f *File) flagKeys() []fileKey {
	var keys []fileKey
	for _, flag := range streaming.Flags() {
		switch {
		case flag.Key == "":
		case flag.Arg == "":
			keys = append(keys, fileKey{flag.Key, f.setting(flag.Name)})
		case strings.Contains(flag.Arg, "="):
			keys = append(keys, fileKey{flag.Key, f.pairs(flag.Name)})
		default:
			keys = append(keys, fileKey{flag.Key, f.settings(flag.Name)})
		}
	}
	return keys
}

// keys takes a table.
func (f *File) keys(keys []fileKey) func(value) error {
	return func(v value) error {
		if _, ok := v.is.(map[string]any); !ok {
			return v.wrong("a table, [" + v.key + "]")
		}
		f.hasBag = f.hasBag || v.key == "bag"
		f.table(v.table.Sub(v.key), keys)
		return nil
	}
}

func (f *File) takeKind(v value) error {
	s, _ := v.is.(string)
	switch {
	case s == "stages":
		f.Kind, f.inStages = job.Bag, true // each of them is a bag
	case job.Kind(s) != job.Bag && job.Kind(s) != job.MapReduce:
		return job.ConfigError(v.where, fmt.Sprintf("%v is not a kind of job", v.is), `write "bag", "mapreduce" or "stages"`)
	default:
		f.Kind = job.Kind(s)
	}
	return nil
}

func text(field *string) func(value) error {
	return func(v value) error {
		*field = v.table.Text(v.key, "")
		return nil
	}
}

// option takes a value, or for an option that may be given several times a list.
func option(o *parse.Option, ask *parse.Ask) func(value) error {
	return func(v value) error {
		want := "one value"
		if o.Many {
			want = "a value or a list of values"
		}
		values, err := v.scalars(want)
		if err != nil {
			return err
		}
		if _, one := scalar(v.is); !one && !o.Many {
			return v.wrong(want)
		}
		for _, s := range values {
			if err := take(o, ask, v.where, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// takeCommand takes a string, which is one word, or a list of words.
func (f *File) takeCommand(v value) (err error) {
	f.command, err = v.scalars("a string or a list of strings")
	return err
}

// takeEntries takes a list of entries: values, or lists of as many values each.
func (f *File) takeEntries(v value) error {
	rows, err := v.rows("a list")
	if err != nil {
		return err
	}
	entries := make([]job.Entry, len(rows))
	for i, columns := range rows {
		if len(columns) == 0 || len(columns) != len(rows[0]) {
			return v.wrong("a list of entries with as many columns each")
		}
		entries[i] = columns
	}
	f.Ask.Sources.Entries, f.Ask.Sources.Where = entries, v.where
	return nil
}

// takeLists takes lists whose values are combined, as with several :::.
func (f *File) takeLists(v value) error {
	isList := func(item any) bool { _, ok := item.([]any); return ok }
	if list, ok := v.is.([]any); ok && !slices.ContainsFunc(list, func(item any) bool { return !isList(item) }) {
		rows, err := v.rows("a list of lists")
		for _, values := range rows {
			f.Ask.Sources.Lists = append(f.Ask.Sources.Lists, parse.List{Values: values})
		}
		f.Ask.Sources.Where = v.where
		return err
	}
	return v.wrong("a list of lists")
}

// pairsInto takes a table as NAME=VALUE.
func pairsInto(env *[]string) func(value) error {
	return func(v value) error {
		return v.pairs("", func(name, s string) { *env = append(*env, name+"="+s) })
	}
}

// setting takes true as a flag without a value.
func (f *File) setting(name string) func(value) error {
	return func(v value) error {
		if v.table.Flag(v.key, false) {
			f.Settings = append(f.Settings, streaming.Setting{Name: name, Where: v.where})
		}
		return nil
	}
}

// settings takes a value, or a list of them, as flags of that name.
func (f *File) settings(name string) func(value) error {
	return func(v value) error {
		values, err := v.scalars("a value or a list of values")
		for _, s := range values {
			f.Settings = append(f.Settings, streaming.Setting{Name: name, Value: s, Where: v.where})
		}
		return err
	}
}

// pairs takes a table as flags name=value.
func (f *File) pairs(name string) func(value) error {
	return func(v value) error {
		return v.pairs("", func(key, s string) {
			f.Settings = append(f.Settings, streaming.Setting{Name: name, Value: key + "=" + s, Where: v.table.Where(v.key + "." + key)})
		})
	}
}

func (v value) wrong(want string) error {
	return job.ConfigError(v.where, "this is "+tomlfile.TypeName(v.is), "write "+want)
}

// of returns a part of the value.
func (v value) of(part any) value { v.is = part; return v }

// scalars returns one value or a list of values as flags have them; want says in an error what
// was wanted.
func (v value) scalars(want string) ([]string, error) {
	if s, ok := scalar(v.is); ok {
		return []string{s}, nil
	}
	list, ok := v.is.([]any)
	if !ok {
		return nil, v.wrong(want)
	}
	values := make([]string, len(list))
	for i, item := range list {
		if values[i], ok = scalar(item); !ok {
			return nil, v.of(item).wrong(want)
		}
	}
	return values, nil
}

// rows returns a list of such lists.
func (v value) rows(want string) ([][]string, error) {
	list, ok := v.is.([]any)
	if !ok {
		return nil, v.wrong(want)
	}
	rows := make([][]string, len(list))
	for i, item := range list {
		var err error
		if rows[i], err = v.of(item).scalars("a value or a list of values"); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// pairs calls add for the pairs of a table, in the order of their names. Tables
// in it are joined with a dot: mapreduce.job.reduces needs no quotes in TOML.
func (v value) pairs(prefix string, add func(name, s string)) error {
	table, ok := v.is.(map[string]any)
	if !ok {
		return v.wrong("a table of strings")
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		inner := v.of(table[name])
		if _, ok := inner.is.(map[string]any); ok {
			if err := inner.pairs(prefix+name+".", add); err != nil {
				return err
			}
			continue
		}
		s, ok := scalar(inner.is)
		if !ok {
			return inner.wrong("a string as value of " + name)
		}
		add(prefix+name, s)
	}
	return nil
}

// scalar writes a string, number or boolean as a flag's value.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case bool:
		return strconv.FormatBool(v), true
	}
	return "", false
}
