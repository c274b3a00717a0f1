package job

// Resources are the resources that a task needs or that a node has.
type Resources struct {
	CPUs int   `msgpack:"c" json:"cpus"`                         // whole cores
	Mem  int64 `msgpack:"m" json:"mem_bytes"`                    // bytes; for a task, 0 means that none is reserved
	Disk int64 `msgpack:"d,omitempty" json:"disk_bps,omitempty"` // rate of the node's disk in bytes/s; 0: unknown
	Net  int64 `msgpack:"n,omitempty" json:"net_bps,omitempty"`  // rate of the node's network in each direction, in bytes/s; 0: unknown
}

// Fits reports whether free has the cores and the memory of r.
func (r Resources) Fits(free Resources) bool { return r.CPUs <= free.CPUs && r.Mem <= free.Mem }

// Plus returns r + s.
func (r Resources) Plus(s Resources) Resources {
	return Resources{CPUs: r.CPUs + s.CPUs, Mem: r.Mem + s.Mem, Disk: r.Disk + s.Disk, Net: r.Net + s.Net}
}

// Minus returns r − s.
func (r Resources) Minus(s Resources) Resources {
	return Resources{CPUs: r.CPUs - s.CPUs, Mem: r.Mem - s.Mem, Disk: r.Disk - s.Disk, Net: r.Net - s.Net}
}
