package streaming

import (
	"fmt"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// reader turns a command line into settings.
type reader struct {
	settings  []Setting
	warnings  []string
	seen      map[string]bool
	specific  string // the first flag that is Hadoop Streaming's own
	lateTold  bool
	remaining []string
}

// readArgs reads a command line. The Where of a setting is the flag as the user wrote it.
func readArgs(args []string) (*reader, error) {
	r := &reader{seen: map[string]bool{}, remaining: args}
	for len(r.remaining) > 0 {
		arg := r.take()
		flag, value, attached := parseFlag(arg)
		if flag == nil {
			return nil, r.unknown(arg)
		}
		if err := r.flag(arg, flag, value, attached); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *reader) take() string {
	arg := r.remaining[0]
	r.remaining = r.remaining[1:]
	return arg
}

// parseFlag returns the flag that an argument names, or nil, and the value that is attached to it: -name=value,
// -Dkey=value, -N4.
func parseFlag(arg string) (flag *Flag, value string, attached bool) {
	name, dashed := strings.CutPrefix(arg, "-")
	if !dashed || name == "" || name == "-" {
		return nil, "", false
	}
	name, double := strings.CutPrefix(name, "-")
	if flag = findFlag(name, !double); flag != nil {
		return flag, "", false
	}
	if before, after, ok := strings.Cut(name, "="); ok {
		if flag = findFlag(before, !double); flag != nil && before != "D" {
			return flag, after, true
		}
	}
	if double {
		return nil, "", false
	}
	if key, ok := strings.CutPrefix(name, "D"); ok && strings.Contains(key, "=") {
		return findFlag("D", false), key, true
	}
	// -N4, -c2, -t30: a letter followed by a number. Other letters are flags only by themselves, so that a
	// misspelt -combnier is not read as -c.
	if flag = findFlag(name[:1], true); flag != nil && flag.Short != "" && len(name) > 1 && name[1] >= '0' && name[1] <= '9' {
		return flag, name[1:], true
	}
	return nil, "", false
}

// flag adds the settings of a flag and its values.
func (r *reader) flag(arg string, f *Flag, value string, attached bool) error {
	where, _, _ := strings.Cut(arg, "=")
	if attached && f.Name == "D" {
		where = "-D"
	}
	if r.seen[f.Name] && !f.Repeat && f.Arg != "" {
		return job.ArgumentError(where, "is given twice", "keep one of them")
	}
	r.seen[f.Name] = true
	r.noteOrder(where, f)
	if f.Arg == "" {
		if attached && value != "true" && value != "false" {
			return job.ArgumentError(where, "takes no value", "leave out ="+value)
		}
		r.settings = append(r.settings, Setting{Name: f.Name, Value: value, Where: where})
		return nil
	}
	if !attached {
		var err error
		if value, err = r.value(where, f); err != nil {
			return err
		}
	}
	r.settings = append(r.settings, Setting{Name: f.Name, Value: value, Where: where})
	for f.Many && len(r.remaining) > 0 && !strings.HasPrefix(r.remaining[0], "-") {
		r.settings = append(r.settings, Setting{Name: f.Name, Value: r.take(), Where: where})
	}
	return nil
}

// value returns the argument after a flag. It may begin with a dash if it is not a flag. After one of berth's
// own flags it may be anything.
func (r *reader) value(where string, f *Flag) (string, error) {
	if len(r.remaining) > 0 {
		if next, _, _ := parseFlag(r.remaining[0]); next == nil || f.Own {
			return r.take(), nil
		}
	}
	return "", job.ArgumentError(where, "needs a value", "write "+where+" "+f.Arg)
}

// noteOrder warns once about a generic option after other flags, which Hadoop would refuse.
func (r *reader) noteOrder(where string, f *Flag) {
	switch {
	case f.Own:
	case !f.Generic:
		if r.specific == "" {
			r.specific = where
		}
	case r.specific != "" && !r.lateTold:
		r.lateTold = true
		r.warnings = append(r.warnings, fmt.Sprintf("%s is after %s: berth accepts this, but Hadoop accepts generic options only before all other flags", where, r.specific))
	}
}

func (r *reader) unknown(arg string) error {
	if !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--" {
		do := "every argument belongs to a flag"
		if n := len(r.settings); n > 0 && strings.Contains(" mapper reducer combiner mapdebug reducedebug ", " "+r.settings[n-1].Name+" ") {
			last := r.settings[n-1]
			do = fmt.Sprintf("quote the whole command: %s %s", last.Where, job.Quote(last.Value+" "+arg))
		}
		return job.ArgumentError("", fmt.Sprintf("unexpected argument %q", arg), do)
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	do := "berth mapreduce --help lists the flags"
	var names []string
	for _, f := range Flags() {
		names = append(names, f.Name)
	}
	if near := parse.Nearest(name, names); near != "" {
		do = fmt.Sprintf("did you mean %s?", dashed(near))
	}
	return job.ArgumentError("", fmt.Sprintf("unknown flag %s", strings.TrimSuffix(arg[:len(arg)-len(strings.TrimLeft(arg, "-"))]+name, "=")), do)
}

// dashed returns a flag as users write it: Hadoop's flags with one dash, berth's with two.
func dashed(name string) string {
	if f := findFlag(name, false); f != nil && f.Own {
		return "--" + name
	}
	return "-" + name
}
