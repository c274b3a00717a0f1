package job

// Resource is a resource of a node that tasks share.
type Resource int

// The resources, in the order of the elements of a Vector.
const (
	CPU    Resource = iota // thousandths of a core
	Memory                 // bytes
	Disk                   // bytes/s read and written
	Net                    // bytes/s to or from other nodes
	resources
)

var resourceNames = [resources]string{"cpu", "mem", "disk", "net"}

// String returns "cpu", "mem", "disk" or "net".
func (r Resource) String() string { return resourceNames[r] }

// MilliCore is a core in the unit of Vector's CPU.
const MilliCore = 1000

// Vector is an amount of each resource: what a phase takes at full speed, what an attempt holds, what
// a node has. A rate of disk or network that is 0 is unknown for a node and not reserved for a phase.
type Vector [resources]int64

// Vector returns the resources as amounts.
func (r Resources) Vector() Vector {
	return Vector{int64(r.CPUs) * MilliCore, r.Mem, r.Disk, r.Net}
}

// Plus returns v and w together.
func (v Vector) Plus(w Vector) Vector {
	for r := range v {
		v[r] += w[r]
	}
	return v
}

// Minus returns v less w.
func (v Vector) Minus(w Vector) Vector {
	for r := range v {
		v[r] -= w[r]
	}
	return v
}

// Max returns the larger amount of each resource.
func (v Vector) Max(w Vector) Vector {
	for r := range v {
		v[r] = max(v[r], w[r])
	}
	return v
}

// Resources returns the amounts with the cores rounded up to whole ones.
func (v Vector) Resources() Resources {
	return Resources{CPUs: int((v[CPU] + MilliCore - 1) / MilliCore), Mem: v[Memory], Disk: v[Disk], Net: v[Net]}
}

// ResourceSet is a set of resources.
type ResourceSet uint8

// With returns the set and r.
func (s ResourceSet) With(r Resource) ResourceSet { return s | 1<<r }

// Has reports whether r is in the set.
func (s ResourceSet) Has(r Resource) bool { return s&(1<<r) != 0 }

// PhaseDemand is what a phase of an application takes of a node while it runs at full speed.
type PhaseDemand struct {
	Phase Phase  `msgpack:"p" json:"-"`
	Takes Vector `msgpack:"v" json:"takes"`
	// Seconds is the mean time that the phase lasts at full speed; 0: unknown.
	Seconds float64 `msgpack:"s,omitempty" json:"seconds,omitempty"`
}

// Grant is what of its node an attempt may use in the phases that it has leave for. What is 0 is not
// said: then the worker goes by its own shares.
type Grant struct {
	Memory int64 `msgpack:"gm,omitempty"` // bytes to sort and merge in
	Net    int64 `msgpack:"gn,omitempty"` // bytes/s to fetch map outputs with
}
