package job

// Resources is what a task needs or a node has.
type Resources struct {
	CPUs int   `msgpack:"c" json:"cpus"`                         // whole cores
	Mem  int64 `msgpack:"m" json:"mem_bytes"`                    // bytes; as a need, 0 means that none is reserved
	Disk int64 `msgpack:"d,omitempty" json:"disk_bps,omitempty"` // bytes/s that the node's disk reads and writes; 0: unknown
	Net  int64 `msgpack:"n,omitempty" json:"net_bps,omitempty"`  // bytes/s that the node's network takes in or gives out; 0: unknown
}

// Fits reports whether the cores and the memory of r can be taken out of free.
func (r Resources) Fits(free Resources) bool { return r.CPUs <= free.CPUs && r.Mem <= free.Mem }

// Plus returns r and s together.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPUs: r.CPUs + s.CPUs, Mem: r.Mem + s.Mem, Disk: r.Disk + s.Disk, Net: r.Net + s.Net}
}

// Minus returns r less s.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPUs: r.CPUs - s.CPUs, Mem: r.Mem - s.Mem, Disk: r.Disk - s.Disk, Net: r.Net - s.Net}
}
