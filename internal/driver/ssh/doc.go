// Package ssh is the driver for hosts that the user's own ssh reaches. A node is a host that the user named, and its worker runs there.
//
// The driver uses the local driver. For each rank, that one keeps a process running on this machine in a session of its own, which outlives
// a coordinator that dies. Here this process is not a worker: it holds the connection to one (Hold):
//
//	coordinator ◄─ TLS over TCP ─ Hold ◄─ ssh's standard input and output ─► Serve = worker on the host
//
// Hold asks the host for its cores and memory, copies the program there if it is missing, starts it there as "berth worker --stdio", and
// passes connections on. The worker's connection to the coordinator is a stream inside the connection of ssh, encrypted from end to end with
// the worker's own keys. So no port is opened on the host, and ssh needs no forwarding. When the connection ends, the worker ends.
//
// A token in the allocation's scratch folder shows whether a host sees the files of this machine. If it does not, other streams carry the files
// of jobs; a handler in Hold serves them (package transfer). The worker then uses folders of the host's own.
package ssh
