package hadoop

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"berth/internal/core/job"
)

// Partitioner returns the partition of a key, 0 to n−1, which is the number of its reduce.
type Partitioner func(key []byte) int

// NewPartitioner returns the job's partitioner over n ≥ 1 partitions. Both kinds assign a key to the same partition as
// Hadoop's class of that name, so that part files match.
func NewPartitioner(spec *job.MapReduceSpec, n int) (Partitioner, error) {
	if n < 1 || n > math.MaxInt32 {
		return nil, fmt.Errorf("partition over %d reduces", n)
	}
	switch spec.Partitioner {
	case "", "hash":
		if n == 1 {
			return onePartition, nil
		}
		return hashPartitioner(n), nil
	case "keyfield":
		return newKeyFieldPartitioner(spec, n)
	default:
		return nil, job.ConfigError("partitioner", fmt.Sprintf("%q is not known", spec.Partitioner), `use "hash" or "keyfield"`)
	}
}

func onePartition([]byte) int { return 0 }

// hashPartitioner is Hadoop's HashPartitioner over Text: WritableComparator.hashBytes starts with 1, and the sign bit is
// dropped.
func hashPartitioner(n int) Partitioner {
	return func(key []byte) int { return partitionOf(hash31(1, key), n) }
}

func partitionOf(hash uint32, n int) int { return int(hash & math.MaxInt32 % uint32(n)) }

// Powers of 31 modulo 2³².
const (
	pow2  = 31 * 31
	pow4  = pow2 * pow2
	pow8  = pow4 * pow4 & math.MaxUint32
	pow16 = pow8 * pow8 & math.MaxUint32
)

// tailPow holds 31ᵏ for the k bytes left after the last whole word.
var tailPow = [8]uint32{1, 31, pow2, pow2 * 31, pow4, pow4 * 31, pow4 * pow2, pow4 * pow2 * 31 & math.MaxUint32}

// hash31 continues Java's polynomial hash, h = 31·h + b for each signed byte b. It processes 8 bytes at a time
// (hashWord), and two such words at once, so that it waits for one multiplication in 16 bytes instead of 16.
func hash31(h uint32, key []byte) uint32 {
	if len(key) < 8 {
		for _, b := range key {
			h = 31*h + uint32(int8(b))
		}
		return h
	}
	last := binary.LittleEndian.Uint64(key[len(key)-8:])
	for ; len(key) >= 16; key = key[16:] {
		x := hashWord(binary.LittleEndian.Uint64(key))
		y := hashWord(binary.LittleEndian.Uint64(key[8:]))
		h = h*pow16 + (x*pow8 + y)
	}
	if len(key) >= 8 {
		h = h*pow8 + hashWord(binary.LittleEndian.Uint64(key))
		key = key[8:]
	}
	if len(key) > 0 {
		hashed := 64 - 8*len(key) // bits of last; as zeros before the others they add nothing
		h = h*tailPow[len(key)&7] + hashWord(last>>hashed<<hashed)
	}
	return h
}

// hashWord returns the hash of 8 bytes, the first one lowest. It adds neighbours within the word: b0·31+b1 in lanes of
// 16 bits, then two of these in lanes of 32 bits, then both of these. Lanes need unsigned bytes, so 128 is added to each
// byte, and the sum of these additions is subtracted at the end.
func hashWord(x uint64) uint32 {
	const bias = 128 * (1 + 31) * (1 + pow2) * (1 + pow4) & math.MaxUint32
	x ^= 0x8080808080808080
	x = (x&0x00ff00ff00ff00ff)*31 + x>>8&0x00ff00ff00ff00ff
	x = (x&0x0000ffff0000ffff)*pow2 + x>>16&0x0000ffff0000ffff
	return uint32(x)*pow4 + uint32(x>>32) - bias
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
func stringHash(key []byte) uint32 {
	var h uint32
	for len(key) > 0 {
		r, size := utf8.DecodeRune(key)
		key = key[size:]
		if r >= 0x10000 {
			r -= 0x10000
			h = 31*h + 0xd800 + uint32(r>>10)
			r = 0xdc00 + r&0x3ff
		}
		h = 31*h + uint32(r)
	}
	return h
}
