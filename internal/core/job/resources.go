package job

import (
	"cmp"
	"strconv"
)

// Resources are the resources that a task needs or that a node has.
type Resources struct {
	CPUs int   `msgpack:"c" json:"cpus"`                         // cores; 0: not known
	Mem  int64 `msgpack:"m" json:"mem_bytes"`                    // bytes; 0: not known
	Disk int64 `msgpack:"d,omitempty" json:"disk_bps,omitempty"` // bytes/s that its disk reads and writes; may be absent: not known
	Net  int64 `msgpack:"n,omitempty" json:"net_bps,omitempty"`  // bytes/s that its network takes in or gives out; may be absent: not known

	GPUs int `msgpack:"g,omitempty" json:"gpus,omitempty"` // may be absent: none
	// GPUShare is how many thousandths of its one GPU a task needs, which others may share; 0: all. Nodes and requests have whole GPUs.
	GPUShare int `msgpack:"gs,omitempty" json:"gpu_share,omitempty"` // may be absent, as it always is: nodes have whole GPUs
	// GPUType is the type of the GPUs, as the backend names it. Empty: any for a task, unknown or several for a node.
	GPUType string `msgpack:"gt,omitempty" json:"gpu_type,omitempty"` // may be absent: unknown, or any
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
	return min(n, r.GPUs/need.GPUs*need.PerGPU())
}

// PerGPU returns how many tasks of that need share a GPU.
func (r Resources) PerGPU() int { return max(1, Milli/cmp.Or(r.GPUShare, Milli)) }

// Plus returns r + s, with the type of r's GPUs if it has any.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPUs: r.CPUs + s.CPUs, Mem: r.Mem + s.Mem, Disk: r.Disk + s.Disk, Net: r.Net + s.Net, GPUs: r.GPUs + s.GPUs, GPUType: cmp.Or(r.GPUType, s.GPUType)}
}

// Minus returns r − s, with the type of r's GPUs.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPUs: r.CPUs - s.CPUs, Mem: r.Mem - s.Mem, Disk: r.Disk - s.Disk, Net: r.Net - s.Net, GPUs: r.GPUs - s.GPUs, GPUType: r.GPUType}
}

// Times returns what a node has that holds n times r: whole GPUs.
func (r Resources) Times(n int) Resources {
	per := r.PerGPU()
	r.CPUs, r.Mem, r.GPUs, r.GPUShare = r.CPUs*n, r.Mem*int64(n), (r.GPUs*n+per-1)/per, 0
	return r
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

// GPUWords returns the GPUs in words: "2 GPUs", "1 GPU of type a100", "0.5 of a GPU".
func (r Resources) GPUWords() string {
	words := Count(r.GPUs, "GPU")
	if r.GPUShare > 0 {
		words = r.Vector().GPUFigure() + " of a GPU"
	}
	if r.GPUType == "" || r.GPUs == 0 {
		return words
	}
	return words + " of type " + r.GPUType
}

// GPUFigure returns the number of GPUs: "2", "0.25".
func (v Vector) GPUFigure() string {
	return strconv.FormatFloat(float64(v.GPU)/Milli, 'f', -1, 64)
}
