package streaming

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/registry"
)

// setter takes over the value of a flag or key.
type setter = func(Setting) error

// setters returns what flags and keys do. Those that are not in it are read from the configuration later, or ask for help.
func (b *builder) setters() map[string]setter {
	mr := b.mr
	partitioner, inputFormat := named(&mr.Partitioner, "partitioner", partitioners()), named(&mr.InputFormat, "input format", inputFormats())
	outputFormat := named(&mr.OutputFormat, "output format", outputFormats())
	all := map[string]setter{
		"input":                           b.input,
		"output":                          b.output,
		"mapper":                          command(&b.mapper),
		"combiner":                        command(&b.combiner),
		"reducer":                         command(&b.reducer),
		"file":                            b.shipOne(false),
		"cmdenv":                          b.cmdenv,
		"inputformat":                     inputFormat,
		"outputformat":                    outputFormat,
		"partitioner":                     partitioner,
		"cacheFile":                       b.shipOne(false),
		"cacheArchive":                    b.shipOne(true),
		"io":                              accepts("berth has text only", "text"),
		"inputreader":                     b.setReader,
		"dfs":                             b.notHere,
		"files":                           b.shipList(false),
		"archives":                        b.shipList(true),
		"libjars":                         b.noJava,
		"fs":                              b.notHere,
		"jt":                              b.notHere,
		"mapreduce.job.partitioner.class": partitioner,
		"mapreduce.job.output.key.comparator.class":        named(&mr.Comparator, "comparator", comparators()),
		"mapreduce.job.inputformat.class":                  inputFormat,
		"mapreduce.job.outputformat.class":                 outputFormat,
		"mapreduce.output.fileoutputformat.compress.codec": named(&b.codec, "codec for output", outputCodecs()),
		job.SequenceTypeKey:                                sequenceType,
	}
	for _, o := range registry.Options() {
		all[o.Name] = func(s Setting) error { return o.Set(&b.ask, s.Where, s.Value) }
	}
	return all
}

// accepts refuses values other than the given ones.
func accepts(why string, only ...string) setter {
	return func(s Setting) error {
		if quoted := strconv.Quote(s.Value); slices.Contains(only, quoted[1:len(quoted)-1]) {
			return nil
		}
		return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q here", s.Value), why)
	}
}

// field returns a pointer to a field of the result, or of the job by its keys of JSON (job.Spec.Field); nil if none is named.
func (b *builder) field(name string) any {
	if name == "" {
		return nil
	}
	v := reflect.ValueOf(b.result).Elem().FieldByName(name)
	if !v.IsValid() {
		v = b.spec.Field(name)
	}
	return v.Addr().Interface()
}

// take reads a value of a kind and puts it into a place, nil if it is only to be checked. Of numbers the kind has the bounds.
func (b *builder) take(kind string, s Setting, to any) (err error) {
	var value any
	wrong := func(do string) error { return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), do) }
	switch name, bounds, _ := strings.Cut(kind, " "); name {
	case "text":
		value = s.Value
	case "on": // a flag without a value; -flag=false turns it off
		value = s.Value != "false"
	case "boolean":
		value, err = parse.Bool(s.Where, s.Value)
	case "size":
		value, err = parse.Size(s.Where, s.Value)
	case "share":
		v, bad := strconv.ParseFloat(strings.TrimSpace(s.Value), 64)
		if bad != nil || !(v >= 0 && v <= 1) {
			return wrong("write a number from 0 to 1")
		}
		value = v
	case "separator":
		if s.Value == "" || strings.ContainsAny(s.Value, "\n\x00") {
			return wrong("write one or more characters other than a newline")
		}
		if len(s.Value) == 2 && s.Value[0] == '\\' { // what a shell makes of '\t' in quotes; Hadoop takes it literally, which is hardly ever meant
			b.warn("%s: this is a backslash and a letter; where a control character is meant, let the shell make it: $'\\t'", s.Where)
		}
		value = s.Value
	default:
		low, high, _ := strings.Cut(bounds, " ")
		n, bad := strconv.Atoi(strings.TrimSpace(s.Value))
		least, _ := strconv.Atoi(low) // the bounds are those of a fixed table
		most, _ := strconv.Atoi(high)
		switch {
		case name == "megabytes" && s.Value == "-1":
			return nil // unset, as in Hadoop
		case bad != nil || n < least || n > most:
			return wrong(fmt.Sprintf("write a whole number from %d to %d", least, most))
		}
		value = map[string]any{"whole": n, "megabytes": int64(n) << 20, "milliseconds": time.Duration(n) * time.Millisecond}[name]
	}
	if to != nil && err == nil {
		reflect.ValueOf(to).Elem().Set(reflect.ValueOf(value))
	}
	return err
}

// command returns a setter of the command line of a program. It is split when all flags are known.
func command(to **Setting) setter {
	return func(s Setting) error {
		*to = &s
		return nil
	}
}

// named returns a setter of berth's name of a class.
func named(to *string, what string, known []class) setter {
	return func(s Setting) (err error) {
		*to, err = findClass(s, what, known)
		return err
	}
}

// sequenceType checks a value that is read from the configuration later.
func sequenceType(s Setting) error {
	if slices.Contains([]string{"NONE", "RECORD", "BLOCK"}, s.Value) {
		return nil
	}
	return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write RECORD, BLOCK or NONE")
}
