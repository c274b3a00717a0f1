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
	names, pattern := nodeNames(host, constraint), func(r NodeRate) string { return r.Nodes }
	return fitting(r.Disk, names, pattern).Bytes, fitting(r.Net, names, pattern).Bytes
}

// nodeNames returns the names by which patterns know a node: its own, and the features that it was asked for by.
func nodeNames(host, constraint string) []string {
	short, _, _ := strings.Cut(host, ".")
	return append(strings.FieldsFunc(constraint, func(c rune) bool { return strings.ContainsRune("&|,()[]*! ", c) }), host, short)
}

// fitting returns the first of what was told whose pattern fits one of the names, else what was told of all nodes.
func fitting[T any](told []T, names []string, pattern func(T) string) (all T) {
	for _, t := range told {
		if pattern(t) == "" {
			all = t
			continue
		}
		for _, n := range names {
			if ok, _ := path.Match(pattern(t), n); ok { // a pattern that is none fits nothing
				return t
			}
		}
	}
	return all
}
