package job

import "cmp"

// Resources are the resources that a task needs or that a node has.
type Resources struct {
	CPUs int   `msgpack:"c" json:"cpus"`                         // whole cores
	Mem  int64 `msgpack:"m" json:"mem_bytes"`                    // bytes; for a task, 0 means that none is reserved
	Disk int64 `msgpack:"d,omitempty" json:"disk_bps,omitempty"` // rate of the node's disk in bytes/s; 0: unknown
	Net  int64 `msgpack:"n,omitempty" json:"net_bps,omitempty"`  // rate of the node's network in each direction, in bytes/s; 0: unknown

	GPUs int `msgpack:"g,omitempty" json:"gpus,omitempty"`
	// GPUType is the type of the GPUs, as the backend names it. Empty: any for a task, unknown or several for a node.
	GPUType string `msgpack:"gt,omitempty" json:"gpu_type,omitempty"`
}

// Fits reports whether free has the cores, the memory and the GPUs of r.
func (r Resources) Fits(free Resources) bool {
	return r.CPUs <= free.CPUs && r.Mem <= free.Mem && r.GPUs <= free.GPUs && r.SuitsType(free.GPUType)
}

// SuitsType reports whether GPUs of that type are what r asks for.
func (r Resources) SuitsType(kind string) bool {
	return r.GPUs == 0 || r.GPUType == "" || r.GPUType == kind
}

// Slots returns how many tasks of that need fit into r at once.
func (r Resources) Slots(need Resources) int {
	n := r.CPUs / max(1, need.CPUs)
	if need.Mem > 0 {
		n = min(n, int(r.Mem/need.Mem))
	}
	switch {
	case need.GPUs <= 0:
		return n
	case !need.SuitsType(r.GPUType):
		return 0
	}
	return min(n, r.GPUs/need.GPUs)
}

// Plus returns r + s, with the type of r's GPUs if it has any.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPUs: r.CPUs + s.CPUs, Mem: r.Mem + s.Mem, Disk: r.Disk + s.Disk, Net: r.Net + s.Net, GPUs: r.GPUs + s.GPUs, GPUType: cmp.Or(r.GPUType, s.GPUType)}
}

// Minus returns r − s, with the type of r's GPUs.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPUs: r.CPUs - s.CPUs, Mem: r.Mem - s.Mem, Disk: r.Disk - s.Disk, Net: r.Net - s.Net, GPUs: r.GPUs - s.GPUs, GPUType: r.GPUType}
}

// Words returns the resources in words: "1 core", "8 cores, 2 GPUs of type a100 and 4G".
func (r Resources) Words() string {
	if r.Mem == 0 {
		return r.Cores()
	}
	return r.Cores() + " and " + FormatSize(r.Mem)
}

// Cores returns the cores and the GPUs in words: "1 core", "8 cores, 2 GPUs of type a100".
func (r Resources) Cores() string {
	if r.GPUs == 0 {
		return Count(r.CPUs, "core")
	}
	return Count(r.CPUs, "core") + ", " + r.GPUWords()
}

// GPUWords returns the GPUs in words: "2 GPUs", "1 GPU of type a100".
func (r Resources) GPUWords() string {
	if r.GPUType == "" || r.GPUs == 0 {
		return Count(r.GPUs, "GPU")
	}
	return Count(r.GPUs, "GPU") + " of type " + r.GPUType
}
