// Package shuffle transfers the segments of map outputs to the reduces that need them.
//
//   - store.go, serve.go: the map outputs of a node ([Store]), and the server of their segments;
//   - node.go: a node's server and client, with the keys of the present coordinator ([Node]);
//   - locations.go: where the map outputs of a job are, as the coordinator reports it ([Locations]);
//   - collect.go, copier.go: the fetches of a reduce attempt, with retries and checksums ([Collector]).
//
// A worker has one Node. For each reduce attempt it makes a Collector, calls Collect, and merges the
// segments that Files returns. The package talks to other nodes and not to the coordinator: the worker
// adds locations with [Locations.Add], and Source.Lost reports outputs that are lost.
package shuffle
