package hadoop

import (
	"fmt"
	"math"
	"unicode/utf16"

	"berth/internal/core/job"
)

// Partitioner returns the partition of a key, 0 to n−1, which is the number of its reduce.
type Partitioner func(key []byte) int

// NewPartitioner returns the job's partitioner over n ≥ 1 partitions. Both kinds assign a key to the same partition as
// Hadoop's class of that name, so that part files match.
func NewPartitioner(spec *job.MapReduceSpec, n int) (Partitioner, error) {
	switch spec.Partitioner {
	case "", "hash": // HashPartitioner over Text: WritableComparator.hashBytes starts with 1, and the sign bit is dropped
		return func(key []byte) int { return partitionOf(hash31(1, key), n) }, nil
	case "keyfield":
		return newKeyFieldPartitioner(spec, n)
	default:
		return nil, job.ConfigError("partitioner", fmt.Sprintf("%q is not known", spec.Partitioner), `use "hash" or "keyfield"`)
	}
}

func partitionOf(hash uint32, n int) int { return int(hash & math.MaxInt32 % uint32(n)) }

// hash31 continues Java's polynomial hash, h = 31·h + b for each signed byte b. It takes four bytes at a time, so that it waits for one
// multiplication instead of four.
func hash31(h uint32, key []byte) uint32 {
	const pow2 = 31 * 31
	at := func(i int) uint32 { return uint32(int8(key[i])) }
	for ; len(key) >= 4; key = key[4:] {
		h = pow2*pow2*h + (31*pow2*at(0) + pow2*at(1) + 31*at(2) + at(3))
	}
	for i := range key {
		h = 31*h + at(i)
	}
	return h
}

// newKeyFieldPartitioner is Hadoop's KeyFieldBasedPartitioner. PartitionFields (num.key.fields.for.partition) overrides
// the options, as in Hadoop. Bytes are hashed unchanged; Hadoop would replace invalid UTF-8 first.
func newKeyFieldPartitioner(spec *job.MapReduceSpec, n int) (Partitioner, error) {
	const where = "mapreduce.partition.keypartitioner.options"
	options := spec.PartitionOptions
	if spec.PartitionFields > 0 {
		options = fmt.Sprintf("-k1,%d", spec.PartitionFields)
	}
	ks, err := parseKeySpecs(where, options, spec.KeyFieldSeparator)
	if err != nil {
		return nil, err
	}
	if len(ks.specs) == 0 {
		return func(key []byte) int { return partitionOf(stringHash(key), n) }, nil
	}
	return func(key []byte) int {
		var h uint32
		for i := range ks.specs {
			part, _ := ks.part(&ks.specs[i], key)
			h = hash31(h, part)
		}
		return partitionOf(h, n)
	}, nil
}

// stringHash is Java's String.hashCode of the key, over UTF-16 units. KeyFieldBasedPartitioner uses it if no fields are
// named.
func stringHash(key []byte) (h uint32) {
	for _, unit := range utf16.Encode([]rune(string(key))) {
		h = 31*h + uint32(unit)
	}
	return h
}
