package job

import "time"

// MemorySample is what a task used that was done (package memory).
type MemorySample struct {
	Size int64         `msgpack:"s,omitempty" json:"size_bytes,omitempty"` // size of its input; may be absent: not known
	Peak int64         `msgpack:"p" json:"peak_bytes"`                     // the most memory that it used
	Time time.Duration `msgpack:"t" json:"time_ns"`                        // how long it ran
}

// MemorySamples is how many of an application's latest samples count.
const MemorySamples = 128

// Peak returns the most memory that an attempt used, in bytes, and how long it ran, from its phases.
func Peak(phases []PhaseStat) (bytes int64, took time.Duration) {
	for i := range phases {
		bytes = max(bytes, phases[i].PeakMemory)
		took += phases[i].Duration()
	}
	return bytes, took
}

// FormatRange writes a range of amounts as the options of tasks have it, such as "4G..64G"; a single amount if both are equal.
func FormatRange[T comparable](low, high T, format func(T) string) string {
	if low == high {
		return format(low)
	}
	return format(low) + ".." + format(high)
}
