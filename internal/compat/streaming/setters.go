package streaming

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/driver/registry"
)

// maxTasks is the largest number of maps, and of reduces, that a user can set.
const maxTasks = 1_000_000

// setter takes over the value of a flag or key.
type setter = func(Setting) error

// setters returns what flags and keys do. Those that are not in it are read from the configuration later, or ask for help.
func (b *builder) setters() map[string]setter {
	mr := b.mr
	partitioner, inputFormat := named(&mr.Partitioner, "partitioner", partitioners()), named(&mr.InputFormat, "input format", inputFormats())
	outputFormat := named(&mr.OutputFormat, "output format", outputFormats())
	all := map[string]setter{
		"input":                   b.input,
		"output":                  b.output,
		"mapper":                  command(&b.mapper),
		"combiner":                command(&b.combiner),
		"reducer":                 command(&b.reducer),
		"numReduceTasks":          whole(0, maxTasks, &b.reduces),
		"file":                    b.shipOne(false),
		"cmdenv":                  b.cmdenv,
		"inputformat":             inputFormat,
		"outputformat":            outputFormat,
		"partitioner":             partitioner,
		"mapdebug":                text(&mr.MapDebug),
		"reducedebug":             text(&mr.ReduceDebug),
		"lazyOutput":              on(&mr.LazyOutput),
		"background":              on(&b.result.Detach),
		"verbose":                 on(&b.result.Verbose),
		"debug":                   on(&b.result.Verbose),
		"cacheFile":               b.shipOne(false),
		"cacheArchive":            b.shipOne(true),
		"io":                      accepts("berth has text only", "text"),
		"inputreader":             b.setReader,
		"dfs":                     b.notHere,
		"files":                   b.shipList(false),
		"archives":                b.shipList(true),
		"libjars":                 b.noJava,
		"fs":                      b.notHere,
		"jt":                      b.notHere,
		"detach":                  on(&b.result.Detach),
		"hadoop-messages":         on(&b.result.HadoopMessages),
		"json":                    on(&b.result.JSON),
		"mapreduce.job.name":      text(&b.spec.Name),
		"mapreduce.job.reduces":   whole(0, maxTasks, &mr.Reduces),
		"mapreduce.job.maps":      whole(0, maxTasks, &mr.MapsHint),
		"mapreduce.job.queuename": b.setQueue,
		"mapreduce.job.reduce.slowstart.completedmaps":                          b.setSlowStart,
		"mapreduce.input.fileinputformat.split.minsize":                         size(&mr.MinSplit),
		"mapreduce.input.fileinputformat.split.maxsize":                         size(&mr.MaxSplit),
		"mapreduce.input.lineinputformat.linespermap":                           whole(1, math.MaxInt32, &mr.LinesPerMap),
		"mapreduce.input.fileinputformat.input.dir.recursive":                   boolean(nil),
		"mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs": boolean(nil),
		"stream.num.map.output.key.fields":                                      whole(1, math.MaxInt16, &mr.MapOutputKeyFields),
		"stream.num.reduce.output.key.fields":                                   whole(1, math.MaxInt16, nil),
		"stream.map.output.field.separator":                                     b.separator(&mr.MapOutputSeparator),
		"stream.reduce.output.field.separator":                                  b.separator(&mr.ReduceOutputSeparator),
		"mapreduce.output.textoutputformat.separator":                           b.separator(nil),
		"stream.map.input.ignoreKey":                                            b.setIgnoreKey,
		"stream.non.zero.exit.is.failure":                                       boolean(&mr.NonZeroExitIsFail),
		"stream.minRecWrittenToEnableSkip_":                                     whole(0, math.MaxInt, nil),
		"stream.jobconf.truncate.limit":                                         whole(-1, math.MaxInt32, nil),
		"mapreduce.aggregate.max.num.unique.values":                             whole(1, math.MaxInt32, nil),
		"mapreduce.map.output.key.field.separator":                              b.separator(&mr.KeyFieldSeparator),
		"mapreduce.job.partitioner.class":                                       partitioner,
		"mapreduce.partition.keypartitioner.options":                            text(&mr.PartitionOptions),
		"num.key.fields.for.partition":                                          whole(1, math.MaxInt16, &mr.PartitionFields),
		"mapreduce.job.output.key.comparator.class":                             named(&mr.Comparator, "comparator", comparators()),
		"mapreduce.partition.keycomparator.options":                             text(&mr.ComparatorOptions),
		"mapreduce.job.inputformat.class":                                       inputFormat,
		"mapreduce.job.outputformat.class":                                      outputFormat,
		"mapreduce.output.fileoutputformat.compress":                            boolean(&b.compress),
		"mapreduce.output.fileoutputformat.compress.codec":                      named(&b.codec, "codec for output", outputCodecs()),
		job.SequenceTypeKey:                                                     sequenceType,
		"mapreduce.map.memory.mb":                                               megabytes(&mr.MapNeed.Mem),
		"mapreduce.reduce.memory.mb":                                            megabytes(&mr.ReduceNeed.Mem),
		"mapreduce.map.cpu.vcores":                                              whole(1, math.MaxInt16, &mr.MapNeed.CPUs),
		"mapreduce.reduce.cpu.vcores":                                           whole(1, math.MaxInt16, &mr.ReduceNeed.CPUs),
		"mapreduce.map.maxattempts":                                             whole(1, math.MaxInt16, &mr.MapAttempts),
		"mapreduce.reduce.maxattempts":                                          whole(1, math.MaxInt16, &mr.ReduceAttempts),
		"mapreduce.task.timeout":                                                b.setTaskTimeout,
		job.CountersKey:                                                         whole(1, math.MaxInt16, nil),
		job.CounterGroupsKey:                                                    whole(1, math.MaxInt16, nil),
		job.CounterGroupNameKey:                                                 whole(2, math.MaxInt16, nil),
		job.CounterNameKey:                                                      whole(2, math.MaxInt16, nil),
		"mapreduce.map.speculative":                                             boolean(nil),
		"mapreduce.reduce.speculative":                                          boolean(nil),
		"mapreduce.map.debug.script":                                            text(&mr.MapDebug),
		"mapreduce.reduce.debug.script":                                         text(&mr.ReduceDebug),
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

func text(to *string) setter {
	return func(s Setting) error {
		*to = s.Value
		return nil
	}
}

// whole returns a setter of a whole number from low to high. Without a place the value is only checked, and read
// from the configuration later.
func whole(low, high int, to *int) setter {
	return func(s Setting) error {
		n, err := strconv.Atoi(strings.TrimSpace(s.Value))
		if err != nil || n < low || n > high {
			return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), fmt.Sprintf("write a whole number from %d to %d", low, high))
		}
		if to != nil {
			*to = n
		}
		return nil
	}
}

func size(to *int64) setter {
	return func(s Setting) (err error) {
		*to, err = parse.Size(s.Where, s.Value)
		return err
	}
}

// megabytes returns a setter of a number of megabytes. −1 means unset, as in Hadoop.
func megabytes(to *int64) setter {
	return func(s Setting) error {
		if s.Value == "-1" {
			return nil
		}
		var n int
		if err := whole(0, math.MaxInt32, &n)(s); err != nil {
			return err
		}
		*to = int64(n) << 20
		return nil
	}
}

// boolean returns a setter of yes or no. Without a place the value is only checked.
func boolean(to *bool) setter {
	return func(s Setting) error {
		v, err := parse.Bool(s.Where, s.Value)
		if to != nil {
			*to = v
		}
		return err
	}
}

// on returns a setter of a flag without a value; -flag=false turns it off.
func on(to *bool) setter {
	return func(s Setting) error {
		*to = s.Value != "false"
		return nil
	}
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

// separator returns a setter of a separator of fields; without a place it is only checked, as it is read from the configuration later on. A backslash and a letter is what a shell
// makes of '\t' in quotes; Hadoop takes it literally, which is hardly ever meant.
func (b *builder) separator(to *string) setter {
	return func(s Setting) error {
		if s.Value == "" || strings.ContainsAny(s.Value, "\n\x00") {
			return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write one or more characters other than a newline")
		}
		if len(s.Value) == 2 && s.Value[0] == '\\' {
			b.warn("%s: this is a backslash and a letter; where a control character is meant, let the shell make it: $'\\t'", s.Where)
		}
		if to != nil {
			*to = s.Value
		}
		return nil
	}
}

// setQueue uses a queue as the partition. Hadoop's queue "default" means unset.
func (b *builder) setQueue(s Setting) error {
	if s.Value != "default" && s.Value != "root.default" {
		b.queue = s.Value
	}
	return nil
}

func (b *builder) setSlowStart(s Setting) error {
	v, err := strconv.ParseFloat(strings.TrimSpace(s.Value), 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write a number from 0 to 1")
	}
	b.mr.SlowStart = v
	return nil
}

func (b *builder) setIgnoreKey(s Setting) error {
	v, err := parse.Bool(s.Where, s.Value)
	b.ignoreKey = &v
	return err
}

func (b *builder) setTaskTimeout(s Setting) error {
	var ms int
	if err := whole(0, math.MaxInt32, &ms)(s); err != nil {
		return err
	}
	b.mr.TaskTimeout = time.Duration(ms) * time.Millisecond
	return nil
}

// sequenceType checks a value that is read from the configuration later.
func sequenceType(s Setting) error {
	if slices.Contains([]string{"NONE", "RECORD", "BLOCK"}, s.Value) {
		return nil
	}
	return job.ConfigError(s.Where, fmt.Sprintf("it cannot be %q", s.Value), "write RECORD, BLOCK or NONE")
}
