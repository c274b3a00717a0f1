package streaming

import (
	"fmt"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
)

// required checks the flags without which there is no job.
func (b *builder) required() error {
	switch {
	case len(b.mr.Inputs) == 0:
		return job.ArgumentError("", "required argument: -input PATHS", "berth mapreduce --help shows an example")
	case b.mr.Output == "":
		return job.ArgumentError("", "required argument: -output DIR", "berth mapreduce --help shows an example")
	}
	return nil
}

// programs makes the mapper, the combiner and the reducer, and ships the files that their commands name.
func (b *builder) programs() error {
	if b.reducer != nil && b.reducer.Value == "NONE" {
		b.mr.Reduces, b.reducer = 0, nil
	}
	mapper, err := b.program(b.mapper, "mapper")
	if err != nil {
		return err
	}
	b.mr.Mapper = *mapper
	if b.mr.Reduces == 0 {
		b.mapOnly()
	} else if err := b.reducePrograms(); err != nil {
		return err
	}
	if err := b.debugPrograms(); err != nil {
		return err
	}
	if b.mr.OneFilePerSplit = b.asksInputName(); b.mr.OneFilePerSplit {
		b.note("the mapper asks for its input file's name, so no split runs over several files")
	}
	return nil
}

// mapOnly removes the programs that a job without reduces does not run.
func (b *builder) mapOnly() {
	if b.combiner != nil {
		b.warn("%s has no effect: a job without reduces combines nothing", b.combiner.Where)
	}
	if b.reducer != nil {
		b.warn("%s has no effect: the number of reduces is 0", b.reducer.Where)
	}
	b.mr.Reducer, b.mr.Combiner = nil, nil
}

// reducePrograms makes the reducer and the combiner. The reducer aggregate has its own combiner, which replaces any
// other (StreamJob.setJobConf).
func (b *builder) reducePrograms() (err error) {
	if b.mr.Reducer, err = b.program(b.reducer, "reducer"); err != nil {
		return err
	}
	if b.mr.Reducer.Native == job.NativeAggregate {
		if b.combiner != nil && !strings.EqualFold(b.combiner.Value, job.NativeAggregate) {
			b.warn("%s has no effect: the reducer aggregate brings its own combiner", b.combiner.Where)
		}
		b.mr.Combiner = &job.Program{Native: job.NativeAggregate}
		return nil
	}
	if b.combiner == nil || b.combiner.Value == "NONE" {
		return nil
	}
	if b.mr.Combiner, err = b.program(b.combiner, "combiner"); err != nil {
		return err
	}
	if b.mr.Combiner.Native == job.NativeIdentity {
		b.mr.Combiner = nil // combines nothing
	}
	return nil
}

// program makes a program from a command, or the identity if there is none.
func (b *builder) program(s *Setting, role string) (*job.Program, error) {
	if s == nil {
		return &job.Program{Native: job.NativeIdentity}, nil
	}
	if role != "mapper" && strings.EqualFold(s.Value, job.NativeAggregate) {
		return &job.Program{Native: job.NativeAggregate}, nil
	}
	words := SplitCommand(s.Value)
	if len(words) == 0 {
		return nil, job.ArgumentError(s.Where, fmt.Sprintf("the command %q is empty", s.Value), "write "+s.Where+" 'program arguments'")
	}
	if !b.isFile(words[0]) {
		native, err := nativeProgram(*s)
		if err != nil {
			return nil, err
		}
		if native != "" {
			return &job.Program{Native: native}, nil
		}
	}
	b.warnShell(s.Where, s.Value)
	words, err := b.shipWords(s.Where, words)
	if err != nil {
		return nil, err
	}
	return &job.Program{Args: words}, b.checkProgram(s.Where, words)
}

// debugPrograms ships the files that the commands for failed tasks name.
func (b *builder) debugPrograms() error {
	for _, debug := range []struct{ where, command string }{{"-mapdebug", b.mr.MapDebug}, {"-reducedebug", b.mr.ReduceDebug}} {
		if _, err := b.shipWords(debug.where, SplitCommand(debug.command)); err != nil {
			return err
		}
	}
	return nil
}

// finishFormats sets the input format, the compression and the order of keys, which depend on several keys.
func (b *builder) finishFormats() error {
	b.finishCompression()
	if err := b.finishReader(); err != nil {
		return err
	}
	// A mapper's lines begin with the key, the byte offset, for every format but
	// TextInputFormat; KeyValueTextInputFormat's key is in the line already
	// (PipeMapper.configure).
	b.mr.OffsetKeys = b.mr.InputFormat == "NLineInputFormat" || b.mr.InputFormat == "CombineTextInputFormat"
	if s, given := b.conf.get("stream.map.input.ignoreKey"); given {
		ignored, _ := parse.Bool(s.Where, s.Value) // it was checked
		switch {
		case b.mr.InputFormat == job.SequenceInput || b.mr.InputFormat == job.SequenceTextInput:
			b.mr.IgnoreKeys = ignored
		case !hasKeys(b.mr.InputFormat):
			b.mr.OffsetKeys = !ignored
		case ignored:
			return job.ConfigError("stream.map.input.ignoreKey", b.mr.InputFormat+" without its keys is more than berth can", "let the mapper drop them")
		}
	}
	if b.mr.Mapper.Native == job.NativeIdentity {
		b.mr.OffsetKeys = false // as documented, an identity mapper passes on the line alone
	}
	if b.mr.InputFormat == "NLineInputFormat" && b.mr.LinesPerMap == 0 {
		b.mr.LinesPerMap = 1 // Hadoop's default
	}
	b.uselessOptions()
	return nil
}

// hasKeys reports whether the records of an input format have a key other than the byte offset.
func hasKeys(format string) bool {
	return format == "KeyValueTextInputFormat" || format == xmlReader
}

func (b *builder) finishCompression() {
	compress, given := b.conf.get("mapreduce.output.fileoutputformat.compress")
	on, _ := parse.Bool(compress.Where, compress.Value) // it was checked
	switch {
	case !given || !on:
		return
	case b.codec == "" && b.mr.OutputFormat == job.SequenceOutput:
		b.mr.Compress = "deflate" // Hadoop's default
	case b.codec == "":
		b.warn("the output is compressed with gzip, in place of Hadoop's .deflate; -D mapreduce.output.fileoutputformat.compress.codec=GzipCodec or DefaultCodec says which")
		b.mr.Compress = "gzip"
	default:
		b.mr.Compress = b.codec
	}
}

// uselessOptions warns about options for a partitioner or comparator that is not used.
func (b *builder) uselessOptions() {
	if b.mr.Partitioner != "keyfield" && (b.mr.PartitionOptions != "" || b.mr.PartitionFields > 0) {
		b.warn("options of the partitioner have no effect without -partitioner KeyFieldBasedPartitioner")
	}
	if b.mr.Comparator != "keyfield" && b.mr.ComparatorOptions != "" {
		b.warn("mapreduce.partition.keycomparator.options has no effect without -D mapreduce.job.output.key.comparator.class=KeyFieldBasedComparator")
	}
}
