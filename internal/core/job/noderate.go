package job

import (
	"path"
	"strings"
)

// NodeRate is the rate of the disks or networks of some nodes, as the user gave it.
type NodeRate struct {
	// Nodes is a pattern (path.Match) for the nodes' names or for a feature that --constraint
	// requests. An empty pattern is for all nodes that no other pattern matches.
	Nodes string `msgpack:"n,omitempty" json:"nodes,omitempty"` // pattern of names or features of nodes; may be absent: all other nodes
	Bytes int64  `msgpack:"b" json:"bytes_s"`                   // bytes a second; 0: not known
}

// NodeRates holds the rates of disks and networks that the user gave.
type NodeRates struct {
	Disk []NodeRate `msgpack:"d,omitempty" json:"disk,omitempty"` // rates of disks
	Net  []NodeRate `msgpack:"n,omitempty" json:"net,omitempty"`  // rates of networks
}

// Of returns the rates of a node in bytes/s, or 0 where the user gave none. constraint is the
// constraint of the node's allocation (Batch.Constraint).
func (r NodeRates) Of(host, constraint string) (disk, net int64) {
	names, pattern := nodeNames(host, constraint), func(r NodeRate) string { return r.Nodes }
	return fitting(r.Disk, names, pattern).Bytes, fitting(r.Net, names, pattern).Bytes
}

// nodeNames returns the names of a node that patterns are matched with: the features in constraint, the host's name and its short name.
func nodeNames(host, constraint string) []string {
	short, _, _ := strings.Cut(host, ".")
	return append(strings.FieldsFunc(constraint, func(c rune) bool { return strings.ContainsRune("&|,()[]*! ", c) }), host, short)
}

// fitting returns the first of the given values whose pattern matches one of the names, else the value for all nodes.
func fitting[T any](given []T, names []string, pattern func(T) string) (all T) {
	for _, t := range given {
		if pattern(t) == "" {
			all = t
			continue
		}
		for _, n := range names {
			if ok, _ := path.Match(pattern(t), n); ok { // an invalid pattern matches nothing
				return t
			}
		}
	}
	return all
}
