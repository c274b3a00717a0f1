package job

// Resources is what a task needs or a node has.
type Resources struct {
	CPUs int   `msgpack:"c" json:"cpus"`      // whole cores
	Mem  int64 `msgpack:"m" json:"mem_bytes"` // bytes; as a need, 0 means that none is reserved
}

// Fits reports whether r can be taken out of free.
func (r Resources) Fits(free Resources) bool { return r.CPUs <= free.CPUs && r.Mem <= free.Mem }

// Plus returns r and s together.
func (r Resources) Plus(s Resources) Resources { return Resources{r.CPUs + s.CPUs, r.Mem + s.Mem} }

// Minus returns r less s.
func (r Resources) Minus(s Resources) Resources { return Resources{r.CPUs - s.CPUs, r.Mem - s.Mem} }
