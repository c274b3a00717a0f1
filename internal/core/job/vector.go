package job

import "cmp"

// Milli is a core in the unit of Vector.CPU, and a GPU in that of Vector.GPU.
const Milli = 1000

// Vector is an amount of each resource: the demand of a phase, the reservation of an attempt, or the
// capacity of a node. A disk or network rate of 0 means unknown for a node, and not reserved for a phase.
type Vector struct {
	CPU    int64 `msgpack:"c,omitempty" json:"cpu"`           // thousandths of a core
	Memory int64 `msgpack:"m,omitempty" json:"mem"`           // bytes
	Disk   int64 `msgpack:"d,omitempty" json:"disk_bps"`      // bytes a second read from disks and written to files
	Net    int64 `msgpack:"n,omitempty" json:"net_bps"`       // bytes a second fetched from other nodes
	GPU    int64 `msgpack:"g,omitempty" json:"gpu,omitempty"` // thousandths of a GPU; may be absent: none
}

// Vector returns the resources as amounts.
func (r Resources) Vector() Vector {
	return Vector{int64(r.CPUs) * Milli, r.Mem, r.Disk, r.Net, int64(r.GPUs) * int64(cmp.Or(r.GPUShare, Milli))}
}

// Resources returns the amounts with the cores rounded up to whole ones, and with whole GPUs or a share of one.
func (v Vector) Resources() Resources {
	r := Resources{CPUs: int((v.CPU + Milli - 1) / Milli), Mem: v.Memory, Disk: v.Disk, Net: v.Net, GPUs: int(v.GPU / Milli)}
	if v.GPU > 0 && r.GPUs == 0 {
		r.GPUs, r.GPUShare = 1, int(v.GPU)
	}
	return r
}

// Plus returns v + w.
func (v Vector) Plus(w Vector) Vector {
	return Vector{v.CPU + w.CPU, v.Memory + w.Memory, v.Disk + w.Disk, v.Net + w.Net, v.GPU + w.GPU}
}

// Minus returns v − w.
func (v Vector) Minus(w Vector) Vector {
	return Vector{v.CPU - w.CPU, v.Memory - w.Memory, v.Disk - w.Disk, v.Net - w.Net, v.GPU - w.GPU}
}

// Times returns v for so many.
func (v Vector) Times(n int) Vector {
	k := int64(n)
	return Vector{v.CPU * k, v.Memory * k, v.Disk * k, v.Net * k, v.GPU * k}
}

// Max returns the larger amount of each resource.
func (v Vector) Max(w Vector) Vector {
	return Vector{max(v.CPU, w.CPU), max(v.Memory, w.Memory), max(v.Disk, w.Disk), max(v.Net, w.Net), max(v.GPU, w.GPU)}
}

// Resource is one of the resources of a Vector.
type Resource uint8

// The resources.
const (
	CPU Resource = iota
	Memory
	Disk
	Net
	GPU
)

// AllResources returns the resources whose use is measured, in the order of a Vector. That of GPUs is not.
func AllResources() [4]Resource { return [...]Resource{CPU, Memory, Disk, Net} }

// String returns "cpu", "mem", "disk", "net" or "gpu".
func (r Resource) String() string { return [...]string{"cpu", "mem", "disk", "net", "gpu"}[r] }

// Of returns the amount of one resource.
func (v Vector) Of(r Resource) int64 { return [...]int64{v.CPU, v.Memory, v.Disk, v.Net, v.GPU}[r] }

// ResourceSet is a set of resources.
type ResourceSet uint8

// With returns the set and r.
func (s ResourceSet) With(r Resource) ResourceSet { return s | 1<<r }

// Has reports whether r is in the set.
func (s ResourceSet) Has(r Resource) bool { return s&(1<<r) != 0 }

// PhaseDemand is the demand of a phase of an application.
type PhaseDemand struct {
	Phase  Phase  `msgpack:"p" json:"-"`
	Demand Vector `msgpack:"v" json:"takes"`
	// Seconds is the mean time that the phase lasts at full speed; 0: unknown.
	Seconds float64 `msgpack:"s,omitempty" json:"seconds,omitempty"`
}
