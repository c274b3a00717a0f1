package bound

import "slices"

// NewMachine returns the machine of a cluster. 0 cores means 1 core for each node. speeds are the
// speeds of each node's cores; nil means that all are 1.
func NewMachine(nodes, cores int, speeds []float64) *Machine {
	m := &Machine{cores: max(cores, 1), slow: []float64{0}, fast: []float64{0}}
	sorted := slices.Clone(speeds)
	if speeds == nil {
		sorted = slices.Repeat([]float64{1}, nodes)
	}
	slices.Sort(sorted)
	for i, s := range sorted {
		m.slow = append(m.slow, m.slow[i]+float64(s*float64(m.cores)))
		m.uneven = m.uneven || s != 1
	}
	for _, s := range slices.Backward(sorted) {
		for range m.cores {
			m.fast = append(m.fast, m.fast[len(m.fast)-1]+s)
		}
	}
	return m
}
