package streaming

import (
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
	Generic bool                          // a generic option, which Hadoop accepts only before all others
	Own     bool                          // a flag of berth that Hadoop does not have
	Many    bool                          // the flag has all values up to the next flag
	Repeat  bool                          // the flag may be given several times
	apply   func(*builder, Setting) error // nil: the flag is part of the configuration, or asks for help
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

// Flags returns all flags, Hadoop's first, in the order in which help shows them.
func Flags() []Flag { return flagTable() }

// flagTable makes the table when it is asked for it first, as most processes need none. It is set in init, because the functions in the
// table use it.
var flagTable func() []Flag

func init() { flagTable = sync.OnceValue(makeFlags) }

func makeFlags() []Flag {
	flags := []Flag{
		{Name: "input", Arg: "PATHS", Key: "input", Many: true, Repeat: true, Status: Works, Meaning: "input files, folders and globs, with commas between", apply: (*builder).input},
		{Name: "output", Arg: "DIR", Key: "output", Status: Works, Meaning: "folder for the output; must not exist", apply: (*builder).output},
		{Name: "mapper", Arg: "CMD", Key: "mapper", Status: Works, Meaning: "command of the mapper, run without a shell; default: identity", apply: command(func(b *builder) **Setting { return &b.mapper })},
		{Name: "combiner", Arg: "CMD", Key: "combiner", Status: Works, Meaning: "command of the combiner", apply: command(func(b *builder) **Setting { return &b.combiner })},
		{Name: "reducer", Arg: "CMD", Key: "reducer", Status: Works, Meaning: "command of the reducer, aggregate, or NONE for a map-only job; default: identity", apply: command(func(b *builder) **Setting { return &b.reducer })},
		{Name: "numReduceTasks", Arg: "N", Key: "num_reduce_tasks", Status: Works, Meaning: "number of reduces; 0: map-only", apply: whole(0, maxTasks, func(b *builder) *int { return &b.reduces })},
		{Name: "file", Arg: "FILE", Many: true, Repeat: true, Status: Works, Meaning: "ship a file to the tasks", apply: ship(false)},
		{Name: "cmdenv", Arg: "NAME=VALUE", Key: "cmdenv", Repeat: true, Status: Works, Meaning: "environment variable of the tasks", apply: (*builder).cmdenv},
		{Name: "inputformat", Arg: "CLASS", Key: "inputformat", Status: Works, Meaning: "TextInputFormat, KeyValueTextInputFormat, NLineInputFormat, CombineTextInputFormat, SequenceFileAsTextInputFormat or SequenceFileInputFormat", apply: (*builder).setInputFormat},
		{Name: "outputformat", Arg: "CLASS", Key: "outputformat", Status: Works, Meaning: "TextOutputFormat or SequenceFileOutputFormat", apply: (*builder).setOutputFormat},
		{Name: "partitioner", Arg: "CLASS", Key: "partitioner", Status: Works, Meaning: "HashPartitioner or KeyFieldBasedPartitioner", apply: (*builder).setPartitioner},
		{Name: "mapdebug", Arg: "CMD", Key: "mapdebug", Status: Works, Meaning: "command run when a map fails", apply: text(func(b *builder) *string { return &b.mr.MapDebug })},
		{Name: "reducedebug", Arg: "CMD", Key: "reducedebug", Status: Works, Meaning: "command run when a reduce fails", apply: text(func(b *builder) *string { return &b.mr.ReduceDebug })},
		{Name: "lazyOutput", Key: "lazy_output", Status: Works, Meaning: "write no part file without records", apply: on(func(b *builder) *bool { return &b.mr.LazyOutput })},
		{Name: "background", Status: Works, Meaning: "submit the job and return", apply: on(func(b *builder) *bool { return &b.result.Detach })},
		{Name: "verbose", Status: Works, Meaning: "tell more", apply: on(func(b *builder) *bool { return &b.result.Verbose })},
		{Name: "debug", Status: Works, Meaning: "tell more, as -verbose", apply: on(func(b *builder) *bool { return &b.result.Verbose })},
		{Name: "help", Status: Works, Meaning: "show the flags"},
		{Name: "info", Status: Works, Meaning: "show the flags and keys"},
		{Name: "jobconf", Arg: "KEY=VALUE", Repeat: true, Status: Works, Meaning: "old form of -D"},
		{Name: "cacheFile", Arg: "URI#NAME", Many: true, Repeat: true, Status: Works, Meaning: "old form of -files", apply: ship(false)},
		{Name: "cacheArchive", Arg: "URI#NAME", Many: true, Repeat: true, Status: Works, Meaning: "old form of -archives", apply: ship(true)},
		{Name: "io", Arg: "FORMAT", Status: Refused, Meaning: "format of records; berth has text only", apply: refused("io", "", "", "berth has text only", "text").apply},
		{Name: "inputreader", Arg: "SPEC", Status: Works, Meaning: "reader of the input: StreamXmlRecordReader,begin=TEXT,end=TEXT", apply: (*builder).setReader},
		{Name: "additionalconfspec", Arg: "FILE", Repeat: true, Status: Works, Meaning: "old form of -conf"},
		{Name: "dfs", Arg: "ADDRESS", Status: Ignored, Meaning: "file system; berth has the machine's", apply: notHere},
		{Name: "D", Arg: "KEY=VALUE", Key: "conf", Generic: true, Repeat: true, Status: Works, Meaning: "set a key of the job"},
		{Name: "conf", Arg: "FILE", Generic: true, Repeat: true, Status: Works, Meaning: "read keys from a configuration file (XML)"},
		{Name: "files", Arg: "LIST", Key: "files", Generic: true, Repeat: true, Status: Works, Meaning: "ship files, with commas between; PATH#NAME renames", apply: shipList(false)},
		{Name: "archives", Arg: "LIST", Key: "archives", Generic: true, Repeat: true, Status: Works, Meaning: "ship archives, unpacked into folders of their names", apply: shipList(true)},
		{Name: "libjars", Arg: "LIST", Generic: true, Repeat: true, Status: Ignored, Meaning: "Java archives; berth runs no Java classes", apply: noJava},
		{Name: "fs", Arg: "ADDRESS", Generic: true, Status: Ignored, Meaning: "file system; berth has the machine's", apply: notHere},
		{Name: "jt", Arg: "ADDRESS", Generic: true, Status: Ignored, Meaning: "job tracker; berth has none (--on says where to run)", apply: notHere},
	}
	for _, o := range registry.Options() {
		set := func(b *builder, s Setting) error { return o.Set(&b.ask, s.Where, s.Value) }
		flags = append(flags, Flag{Name: o.Name, Short: o.Short, Arg: o.Arg, Own: true, Repeat: true, Status: Works, Meaning: o.Usage, apply: set})
	}
	return append(flags,
		Flag{Name: "detach", Own: true, Repeat: true, Status: Works, Meaning: "submit the job and return", apply: on(func(b *builder) *bool { return &b.result.Detach })},
		Flag{Name: "hadoop-messages", Own: true, Repeat: true, Status: Works, Meaning: "show the job as hadoop jar does, and write Hadoop's logs of it", apply: on(func(b *builder) *bool { return &b.result.HadoopMessages })},
		Flag{Name: "json", Own: true, Repeat: true, Status: Works, Meaning: "write JSON", apply: on(func(b *builder) *bool { return &b.result.JSON })},
	)
}

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
