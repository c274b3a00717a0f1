package mapreduce

import (
	"crypto/sha256"
	"fmt"

	"berth/internal/core/job"
	"berth/internal/mapreduce/input"
	"berth/internal/mapreduce/seqfile"
)

// fileCodec returns the codec with which whole part files are compressed. It is nil if they are plain, or
// if they are SequenceFiles, which are compressed by their own format.
func fileCodec(spec *job.MapReduceSpec) (*input.Codec, error) {
	if spec.OutputFormat == job.SequenceOutput {
		return nil, nil
	}
	return input.CodecNamed(spec.Compress)
}

// sequenceOptions returns the options of a part file that is a SequenceFile, or nil if the job's output is text.
//
// The sync marks, which are random in Hadoop, are derived from the names of the job and the part. So all
// attempts of a task write the same file.
func sequenceOptions(spec *job.MapReduceSpec, attempt job.Attempt, partName string) (*seqfile.Options, error) {
	if spec.OutputFormat != job.SequenceOutput {
		return nil, nil
	}
	codec, err := input.CodecNamed(spec.Compress)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s", attempt.Job, partName))
	o := &seqfile.Options{Sync: [16]byte(sum[:16])}
	if kind := spec.Conf[job.SequenceTypeKey]; codec != nil && kind != "NONE" {
		o.Codec, o.Pack, o.Blocks = codec.Class, codec.Writer, kind == "BLOCK"
	}
	return o, nil
}

// Append adds a record to a part that is a SequenceFile.
func (o *Output) Append(key, value []byte) error {
	if err := o.create(); err != nil {
		return err
	}
	return outputError(o.path, o.records.Append(key, value))
}
