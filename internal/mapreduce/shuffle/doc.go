// Package shuffle brings map outputs to the reduces that need them.
//
//   - store.go, serve.go: the map outputs that a node holds (Store), and the segments it serves of them;
//   - node.go: a node's server and client, with the keys of the coordinator's life (Node);
//   - locations.go, locate.go: where the outputs of a job are, as the coordinator tells, and which of
//     them a reduce attempt has yet to try (Locations, Segments);
//   - collect.go, pace.go: fetching what a reduce attempt needs, with tries and checksums (Collector), at the
//     rate that it was granted.
//
// It talks to other nodes and never to the coordinator: what it learns comes in by Locations, what is
// lost goes out by a function.
package shuffle
