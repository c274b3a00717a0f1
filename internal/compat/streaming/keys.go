package streaming

import (
	"math"
	"slices"
	"strings"
	"sync"

	"berth/internal/core/job"
)

// Key is a key of a job's configuration.
type Key struct {
	Name    string
	Old     []string // earlier spellings, which are accepted too
	Meaning string
	Status  Status
	apply   func(b *builder, s Setting) error
}

// Keys returns all keys that berth knows, in the order in which help shows them.
func Keys() []Key { return keyTable().keys }

// keyed is the table of keys.
type keyed struct {
	keys  []Key
	index map[string]int // by all spellings
}

// keyTable makes the table when it is asked for it first, as most processes need none. It is set in init, because the functions in the
// table use it.
var keyTable func() keyed

func init() { keyTable = sync.OnceValue(makeKeys) }

func makeKeys() keyed {
	t := keyed{keys: slices.Concat(jobKeys(), recordKeys(), orderKeys(), formatKeys(), taskKeys(), refusedKeys(), idleKeys()), index: map[string]int{}}
	for i, k := range t.keys {
		t.index[k.Name] = i
		for _, old := range k.Old {
			t.index[old] = i
		}
	}
	return t
}

// findKey returns the key of a spelling, or nil.
func findKey(name string) *Key {
	t := keyTable()
	if i, known := t.index[name]; known {
		return &t.keys[i]
	}
	return nil
}

func jobKeys() []Key {
	return []Key{
		works("mapreduce.job.name", "mapred.job.name", "name of the job", text(func(b *builder) *string { return &b.spec.Name })),
		works("mapreduce.job.reduces", "mapred.reduce.tasks", "number of reduces", whole(0, maxTasks, func(b *builder) *int { return &b.mr.Reduces })),
		works("mapreduce.job.maps", "mapred.map.tasks", "hint for the number of maps", whole(0, maxTasks, func(b *builder) *int { return &b.mr.MapsHint })),
		works("mapreduce.job.queuename", "mapred.job.queue.name", "queue: the partition of a batch system", (*builder).setQueue),
		works("mapreduce.job.reduce.slowstart.completedmaps", "mapred.reduce.slowstart.completed.maps", "share of maps done before reduces start", (*builder).setSlowStart),
		works("mapreduce.input.fileinputformat.split.minsize", "mapred.min.split.size", "least size of a split, bytes", size(func(b *builder) *int64 { return &b.mr.MinSplit })),
		works("mapreduce.input.fileinputformat.split.maxsize", "mapred.max.split.size", "greatest size of a split, bytes", size(func(b *builder) *int64 { return &b.mr.MaxSplit })),
		works("mapreduce.input.lineinputformat.linespermap", "mapred.line.input.format.linespermap", "lines of a split of NLineInputFormat", whole(1, math.MaxInt32, func(b *builder) *int { return &b.mr.LinesPerMap })),
		works("mapreduce.input.fileinputformat.input.dir.recursive", "mapred.input.dir.recursive", "false: refuse folders in input folders", isBool),
		works("mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs", "", "true: pass over folders in input folders", isBool),
		works("berth.input.include", "", "files of input folders to take: globs for their names, with commas between, like *.txt,*.gz (berth's own key)", kept),
	}
}

func recordKeys() []Key {
	return []Key{
		works("stream.num.map.output.key.fields", "", "fields of a mapper's line that are the key", whole(1, math.MaxInt16, func(b *builder) *int { return &b.mr.MapOutputKeyFields })),
		works("stream.num.reduce.output.key.fields", "", "fields of a reducer's line that are the key", whole(1, math.MaxInt16, nil)),
		works("stream.map.output.field.separator", "", "separator of a mapper's fields", separator(func(b *builder) *string { return &b.mr.MapOutputSeparator })),
		works("stream.reduce.output.field.separator", "", "separator of a reducer's fields", separator(func(b *builder) *string { return &b.mr.ReduceOutputSeparator })),
		works("mapreduce.output.textoutputformat.separator", "mapred.textoutputformat.separator", "separator of key and value in the output", separator(nil)),
		works("stream.map.input.ignoreKey", "", "false: a mapper's lines begin with their byte offset", (*builder).setIgnoreKey),
		works("stream.non.zero.exit.is.failure", "", "false: a program may end with any status", boolean(func(b *builder) *bool { return &b.mr.NonZeroExitIsFail })),
		works("stream.minRecWrittenToEnableSkip_", "", "lines after which a mapper may end before it has read its input; never, unless it is given", whole(0, math.MaxInt, nil)),
		works("stream.jobconf.truncate.limit", "", "cut the keys' values in the environment to so many bytes", whole(-1, math.MaxInt32, nil)),
		works(job.SelectionSeparatorKey, "mapred.data.field.separator", "separator of the fields that FieldSelectionMapReduce selects, one character", kept),
		works(job.MapSelectionKey, "map.output.key.value.fields.spec", "fields of key and value that it makes as mapper, like 6,5,1-3:0-", kept),
		works(job.ReduceSelectionKey, "reduce.output.key.value.fields.spec", "fields of key and value that it makes as reducer", kept),
		works("mapreduce.aggregate.max.num.unique.values", "aggregate.max.num.unique.values", "values that UniqValueCount counts to", whole(1, math.MaxInt32, nil)),
	}
}

func orderKeys() []Key {
	return []Key{
		works("mapreduce.map.output.key.field.separator", "map.output.key.field.separator", "separator of a key's fields", separator(func(b *builder) *string { return &b.mr.KeyFieldSeparator })),
		works("mapreduce.job.partitioner.class", "mapred.partitioner.class", "partitioner", (*builder).setPartitioner),
		works("mapreduce.partition.keypartitioner.options", "mapred.text.key.partitioner.options", "parts of the key that KeyFieldBasedPartitioner hashes", text(func(b *builder) *string { return &b.mr.PartitionOptions })),
		works("num.key.fields.for.partition", "", "first fields of the key that KeyFieldBasedPartitioner hashes", whole(1, math.MaxInt16, func(b *builder) *int { return &b.mr.PartitionFields })),
		works("mapreduce.job.output.key.comparator.class", "mapred.output.key.comparator.class", "order of keys: KeyFieldBasedComparator", (*builder).setComparator),
		works("mapreduce.partition.keycomparator.options", "mapred.text.key.comparator.options", "parts of the key that KeyFieldBasedComparator compares", text(func(b *builder) *string { return &b.mr.ComparatorOptions })),
	}
}

func formatKeys() []Key {
	return []Key{
		works("mapreduce.job.inputformat.class", "mapred.input.format.class", "input format", (*builder).setInputFormat),
		works(readerPrefix+"class", "", "reader of StreamInputFormat, as -inputreader names it: StreamXmlRecordReader", kept),
		works(job.XMLBeginKey, "", "text that begins a record of StreamXmlRecordReader", kept),
		works(job.XMLEndKey, "", "text that ends a record of StreamXmlRecordReader", kept),
		refused(readerPrefix+"slowmatch", "", "patterns in place of texts for StreamXmlRecordReader", "berth looks for the texts begin and end as they are", "false"),
		works("mapreduce.job.outputformat.class", "mapred.output.format.class", "output format: TextOutputFormat or SequenceFileOutputFormat", (*builder).setOutputFormat),
		works("mapreduce.output.fileoutputformat.compress", "mapred.output.compress", "compress the output", boolean(func(b *builder) *bool { return &b.compress })),
		works("mapreduce.output.fileoutputformat.compress.codec", "mapred.output.compression.codec", "codec of the output: GzipCodec, ZStandardCodec, BZip2Codec, SnappyCodec or DefaultCodec", (*builder).setCodec),
		works(job.SequenceTypeKey, "mapred.output.compression.type", "what of a SequenceFile is compressed together: RECORD, BLOCK, or NONE", (*builder).setSequenceType),
	}
}

func taskKeys() []Key {
	return []Key{
		works("mapreduce.map.memory.mb", "mapred.job.map.memory.mb", "memory of a map, megabytes", megabytes(func(b *builder) *int64 { return &b.mr.MapNeed.Mem })),
		works("mapreduce.reduce.memory.mb", "mapred.job.reduce.memory.mb", "memory of a reduce, megabytes", megabytes(func(b *builder) *int64 { return &b.mr.ReduceNeed.Mem })),
		works("mapreduce.map.cpu.vcores", "", "cores of a map", whole(1, math.MaxInt16, func(b *builder) *int { return &b.mr.MapNeed.CPUs })),
		works("mapreduce.reduce.cpu.vcores", "", "cores of a reduce", whole(1, math.MaxInt16, func(b *builder) *int { return &b.mr.ReduceNeed.CPUs })),
		works("mapreduce.map.maxattempts", "mapred.map.max.attempts", "attempts of a map", whole(1, math.MaxInt16, func(b *builder) *int { return &b.mr.MapAttempts })),
		works("mapreduce.reduce.maxattempts", "mapred.reduce.max.attempts", "attempts of a reduce", whole(1, math.MaxInt16, func(b *builder) *int { return &b.mr.ReduceAttempts })),
		works("mapreduce.task.timeout", "mapred.task.timeout", "milliseconds without a sign of life after which a task is killed; 0: never", (*builder).setTaskTimeout),
		works(job.CountersKey, "mapreduce.job.counters.limit", "different counters that the tasks may report; 1000, unless it is given", whole(1, math.MaxInt16, nil)),
		works(job.CounterGroupsKey, "", "groups of such counters; 200, unless it is given", whole(1, math.MaxInt16, nil)),
		works(job.CounterGroupNameKey, "", "characters of a group's name that are kept; 128, unless it is given", whole(2, math.MaxInt16, nil)),
		works(job.CounterNameKey, "", "characters of a counter's name that are kept; 64, unless it is given", whole(2, math.MaxInt16, nil)),
		works("mapreduce.map.speculative", "mapred.map.tasks.speculative.execution", "false: no duplicates of maps", isBool),
		works("mapreduce.reduce.speculative", "mapred.reduce.tasks.speculative.execution", "false: no duplicates of reduces", isBool),
		works("mapreduce.map.debug.script", "mapred.map.task.debug.script", "command run when a map fails", text(func(b *builder) *string { return &b.mr.MapDebug })),
		works("mapreduce.reduce.debug.script", "mapred.reduce.task.debug.script", "command run when a reduce fails", text(func(b *builder) *string { return &b.mr.ReduceDebug })),
	}
}

// refusedKeys returns the keys without which the output would differ. Some of them are accepted with the value that
// matches what berth does.
func refusedKeys() []Key {
	tab := func(name, old, meaning string) Key {
		return refused(name, old, meaning, "berth has a TAB there", "\t")
	}
	text := func(name string) Key {
		return refused(name, "", "format of records", "berth has text there", "text", "org.apache.hadoop.streaming.io.TextInputWriter", "org.apache.hadoop.streaming.io.TextOutputReader")
	}
	return []Key{
		tab("stream.map.input.field.separator", "", "separator of what a mapper reads"),
		tab("stream.reduce.input.field.separator", "", "separator of what a reducer reads"),
		tab("mapreduce.input.keyvaluelinerecordreader.key.value.separator", "key.value.separator.in.input.line", "separator of KeyValueTextInputFormat"),
		refused("textinputformat.record.delimiter", "", "end of an input record", "berth has a newline there", "\n"),
		text("stream.map.input"), text("stream.map.output"), text("stream.reduce.input"), text("stream.reduce.output"),
		refused("stream.stderr.reporter.prefix", "", "prefix of counters and status on stderr", "berth has reporter: there", "reporter:"),
		refused("stream.io.identifier.resolver.class", "", "Java class for formats", "berth runs no Java classes"),
		refused("mapreduce.job.map.class", "mapred.mapper.class", "Java class of the mapper", "use -mapper"),
		refused("mapreduce.job.reduce.class", "mapred.reducer.class", "Java class of the reducer", "use -reducer"),
		refused("mapreduce.job.combine.class", "mapred.combiner.class", "Java class of the combiner", "use -combiner"),
		refused("mapreduce.input.fileinputformat.inputdir", "mapred.input.dir", "input", "use -input"),
		refused("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir", "output", "use -output"),
		refused("mapreduce.output.basename", "", "name of part files", "berth calls them part", "part"),
		refused("mapreduce.job.cache.files", "mapred.cache.files", "files to ship", "use -files"),
		refused("mapreduce.job.cache.archives", "mapred.cache.archives", "archives to ship", "use -archives"),
		refused("tmpfiles", "", "files to ship", "use -files"),
		refused("tmparchives", "", "archives to ship", "use -archives"),
	}
}

// idleKeys returns the keys that tune a Hadoop cluster, or something that berth does in its own way.
func idleKeys() []Key {
	keys := make([]Key, 0, len(idleNames)+len(warnedNames))
	for _, names := range idleNames {
		list := strings.Fields(names)
		keys = append(keys, Key{Name: list[0], Old: list[1:], Status: NoWork, Meaning: "tunes Hadoop; no effect here"})
	}
	for _, w := range warnedNames {
		list := strings.Fields(w.names)
		keys = append(keys, Key{Name: list[0], Old: list[1:], Status: Ignored, Meaning: w.meaning})
	}
	return keys
}

// warnedNames are keys whose missing effect a user may notice: key, old spellings, reason.
var warnedNames = []struct{ names, meaning string }{
	{"mapreduce.map.failures.maxpercent mapred.max.map.failures.percent", "a job fails with its first failed map"},
	{"mapreduce.reduce.failures.maxpercent mapred.max.reduce.failures.percent", "a job fails with its first failed reduce"},
	{"mapreduce.map.skip.maxrecords mapred.skip.map.max.skip.records", "no record is skipped"},
	{"mapreduce.map.env mapred.map.child.env", "use -cmdenv"},
	{"mapreduce.reduce.env mapred.reduce.child.env", "use -cmdenv"},
	{"mapred.child.env", "use -cmdenv"},
	{"mapreduce.fileoutputcommitter.marksuccessfuljobs", "_SUCCESS is always written"},
	{"mapreduce.job.end-notification.url job.end.notification.url", "nobody is notified"},
	{"tmpjars mapred.tmpjars", "berth runs no Java classes"},
}

// idleNames are keys with their old spellings.
var idleNames = []string{
	"mapreduce.map.output.compress mapred.compress.map.output", "mapreduce.map.output.compress.codec mapred.map.output.compression.codec",
	"mapred.child.java.opts", "mapred.child.ulimit",
	"mapreduce.map.java.opts mapred.map.child.java.opts", "mapreduce.reduce.java.opts mapred.reduce.child.java.opts",
	"mapreduce.task.io.sort.mb io.sort.mb", "mapreduce.task.io.sort.factor io.sort.factor", "mapreduce.map.sort.spill.percent io.sort.spill.percent",
	"mapreduce.map.combine.minspills min.num.spills.for.combine", "mapreduce.reduce.shuffle.parallelcopies mapred.reduce.parallel.copies",
	"mapreduce.reduce.shuffle.input.buffer.percent mapred.job.shuffle.input.buffer.percent", "mapreduce.reduce.shuffle.merge.percent mapred.job.shuffle.merge.percent",
	"mapreduce.reduce.merge.inmem.threshold mapred.inmem.merge.threshold", "mapreduce.reduce.input.buffer.percent mapred.job.reduce.input.buffer.percent",
	"mapreduce.map.output.key.class mapred.mapoutput.key.class", "mapreduce.map.output.value.class mapred.mapoutput.value.class",
	"mapreduce.job.output.key.class mapred.output.key.class", "mapreduce.job.output.value.class mapred.output.value.class",
	"mapreduce.job.output.group.comparator.class mapred.output.value.groupfn.class", "mapreduce.job.priority mapred.job.priority",
	"mapreduce.job.jvm.numtasks mapred.job.reuse.jvm.num.tasks", "mapreduce.job.ubertask.enable", "mapreduce.job.running.map.limit", "mapreduce.job.running.reduce.limit",
	"mapreduce.framework.name", "mapreduce.jobtracker.address mapred.job.tracker", "mapreduce.jobhistory.address", "mapreduce.jobhistory.webapp.address",
	"mapreduce.cluster.local.dir mapred.local.dir", "mapreduce.cluster.temp.dir mapred.temp.dir", "mapreduce.jobtracker.system.dir mapred.system.dir",
	"mapreduce.fileoutputcommitter.algorithm.version", "mapreduce.client.genericoptionsparser.used mapred.used.genericoptionsparser",
	"mapreduce.client.submit.file.replication mapred.submit.replication", "mapreduce.job.user.name user.name", "mapreduce.job.working.dir mapred.working.dir",
	"mapreduce.job.jar mapred.jar", "mapreduce.job.reducer.preempt.delay.sec", "mapreduce.job.tags", "mapreduce.job.log4j-properties-file", "mapreduce.job.classloader",
	"mapreduce.map.log.level mapred.map.child.log.level", "mapreduce.reduce.log.level mapred.reduce.child.log.level", "mapreduce.task.profile mapred.task.profile",
	"mapreduce.task.files.preserve.failedtasks keep.failed.task.files", "mapreduce.task.userlog.limit.kb mapred.userlog.limit.kb",
	"mapreduce.job.maxtaskfailures.per.tracker mapred.max.tracker.failures", "mapreduce.job.heap.memory-mb.ratio", "mapreduce.job.complete.cancel.delegation.tokens",
	"mapreduce.input.fileinputformat.list-status.num-threads", "mapreduce.input.fileinputformat.split.minsize.per.node mapred.min.split.size.per.node",
	"mapreduce.input.fileinputformat.split.minsize.per.rack mapred.min.split.size.per.rack", "mapreduce.tasktracker.map.tasks.maximum mapred.tasktracker.map.tasks.maximum",
	"mapreduce.tasktracker.reduce.tasks.maximum mapred.tasktracker.reduce.tasks.maximum", "mapreduce.job.acl-view-job", "mapreduce.job.acl-modify-job",
	"mapreduce.admin.user.env", "mapreduce.application.classpath", "mapreduce.am.max-attempts", "mapreduce.reduce.shuffle.memory.limit.percent", "mapreduce.shuffle.port",
	"stream.tmpdir", "stream.recordreader.maxrec", "stream.recordreader.lookahead", "stream.recordreader.statuschars", "stream.joindelay.milli", "stream.shipped.hadoopstreaming", "stream.addenvironment",
}

// idleFamilies are prefixes of keys that belong to parts of Hadoop berth does not have.
var idleFamilies = []string{
	"yarn.", "dfs.", "fs.", "hadoop.", "ipc.", "io.", "net.", "ha.", "tez.", "hive.", "nfs.", "rpc.", "s3.", "s3native.", "ftp.", "file.", "map.sort.", "tfile.",
	"mapreduce.jobhistory.", "mapreduce.jobtracker.", "mapreduce.tasktracker.", "mapreduce.shuffle.", "mapreduce.cluster.", "mapreduce.client.", "mapreduce.ifile.",
	"seq.io.", "adl.", "wasb.", "rm.",
}

// keyNames returns every spelling of every key, for suggestions.
func keyNames() []string {
	names := make([]string, 0, 2*len(Keys()))
	for _, k := range Keys() {
		names = append(names, k.Name)
		names = append(names, k.Old...)
	}
	return names
}
