package job

import (
	"path"
	"strings"
)

// NodeRate is what the disk or the network of some nodes does, as a user told it.
type NodeRate struct {
	// Nodes is a pattern of the nodes' names, or of a feature that they were asked for with
	// --constraint (path.Match); empty: all nodes that no other pattern fits.
	Nodes string `msgpack:"n,omitempty" json:"nodes,omitempty"`
	Bytes int64  `msgpack:"b" json:"bytes_s"` // a second; 0: unknown
}

// NodeRates is what a user told of the disks and networks of nodes.
type NodeRates struct {
	Disk []NodeRate `msgpack:"d,omitempty" json:"disk,omitempty"`
	Net  []NodeRate `msgpack:"n,omitempty" json:"net,omitempty"`
}

// Of returns the rates of a node in bytes/s, 0 for one that nothing was told of. constraint is what
// nodes were asked for by (Batch.Constraint).
func (r NodeRates) Of(host, constraint string) (disk, net int64) {
	short, _, _ := strings.Cut(host, ".")
	names := append(strings.FieldsFunc(constraint, func(c rune) bool { return strings.ContainsRune("&|,()[]*! ", c) }), host, short)
	return rateOf(r.Disk, names), rateOf(r.Net, names)
}

// rateOf returns the first rate whose pattern fits one of the names, else that of all nodes.
func rateOf(rates []NodeRate, names []string) (all int64) {
	for _, r := range rates {
		if r.Nodes == "" {
			all = r.Bytes
			continue
		}
		for _, n := range names {
			if ok, _ := path.Match(r.Nodes, n); ok { // a pattern that is none fits nothing
				return r.Bytes
			}
		}
	}
	return all
}
