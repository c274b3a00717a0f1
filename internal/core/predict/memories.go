package predict

import (
	"encoding/binary"
	"errors"
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
	return append([]job.MemorySample(nil), all[len(all)-job.MemorySamples:]...)
}

// mergeMemory adds the samples of a later run.
func (m *Measure) mergeMemory(later *Measure) {
	if len(later.Memory) > 0 {
		m.Memory = append(append([]job.MemorySample{}, m.LastMemory()...), later.LastMemory()...)
	}
}

var errMemory = errors.New("malformed samples of memory")

// MarshalMemory encodes samples of the memory of tasks as varints.
func MarshalMemory(samples []job.MemorySample) []byte {
	b := make([]byte, 0, 16*len(samples))
	for _, s := range samples {
		for _, v := range [...]int64{s.Size, s.Peak, int64(s.Time)} {
			b = binary.AppendUvarint(b, uint64(v))
		}
	}
	return b
}

// UnmarshalMemory decodes what MarshalMemory has encoded.
func UnmarshalMemory(b []byte) ([]job.MemorySample, error) {
	r := varints{b: b}
	var samples []job.MemorySample
	for len(r.b) > 0 && !r.bad {
		s := job.MemorySample{Size: r.count(), Peak: r.count(), Time: time.Duration(r.count())}
		if r.bad = r.bad || s.Size < 0 || s.Peak <= 0 || s.Time <= 0 || len(samples) == job.MemorySamples; !r.bad {
			samples = append(samples, s)
		}
	}
	if r.bad {
		return nil, errMemory
	}
	return samples, nil
}
