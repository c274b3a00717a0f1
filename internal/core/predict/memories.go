package predict

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"berth/internal/core/job"
)

// AddMemory adds how much memory a bag's task used that Add has counted, with the size of its input in bytes (0: not known).
func (c *Collector) AddMemory(size int64, phases []job.PhaseStat) {
	if peak, took := job.Peak(phases); peak > 0 && took > 0 {
		m := c.parts.at(BagTask)
		m.Memory = lastSamples(append(m.Memory, job.MemorySample{Size: size, Peak: peak, Time: took}), 2*job.MemorySamples)
	}
}

// LastMemory returns the latest samples of the memory of tasks, the oldest first, at most job.MemorySamples.
func (m *Measure) LastMemory() []job.MemorySample { return lastSamples(m.Memory, job.MemorySamples+1) }

// lastSamples drops all but the latest job.MemorySamples elements if there are that many.
func lastSamples(all []job.MemorySample, many int) []job.MemorySample {
	if len(all) < many {
		return all
	}
	return slices.Clone(all[len(all)-job.MemorySamples:])
}

// mergeMemory adds the samples of a later run.
func (m *Measure) mergeMemory(later *Measure) {
	if len(later.Memory) > 0 {
		m.Memory = slices.Concat(m.LastMemory(), later.LastMemory())
	}
}

var errMemory = errors.New("malformed samples of memory")

// Memories are samples of the memory of tasks.
type Memories []job.MemorySample

// MarshalBinary encodes the samples as varints.
func (m *Memories) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, 16*len(*m))
	for _, s := range *m {
		for _, v := range [...]int64{s.Size, s.Peak, int64(s.Time)} {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	return b, nil
}

// UnmarshalBinary decodes what MarshalBinary has encoded.
func (m *Memories) UnmarshalBinary(b []byte) error {
	r := varints{b: b}
	*m = nil
	for len(r.b) > 0 {
		s := job.MemorySample{Size: r.count(), Peak: r.count(), Time: time.Duration(r.count())}
		if r.bad || s.Peak <= 0 || s.Time <= 0 || len(*m) == job.MemorySamples {
			return errMemory
		}
		*m = append(*m, s)
	}
	return nil
}
