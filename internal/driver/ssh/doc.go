// Package ssh is the driver for hosts that the user's own ssh reaches. A node is one host that the user named, and its worker runs there.
//
// What an allocation does is the local driver's business: for each rank it keeps a process of this machine running, in a session of its own,
// which outlives a coordinator that dies. Here that process is no worker but holds one (Hold):
//
//	coordinator ◄─ TLS over TCP ─ Hold ◄─ ssh's standard input and output ─► Serve = worker on the host
//
// Hold asks the host what it is, copies the program there where it is missing, has it started as "berth worker --stdio", and passes connections
// on: the worker's connection to the coordinator is a stream within the one of ssh, end to end encrypted by the worker's own keys. So nothing
// listens on the host for others, no port is opened, and forwarding need not be allowed. When the connection ends, so does the worker.
//
// Whether a host sees the files of this machine a token in the allocation's scratch folder tells. Where it does not, other streams carry files of its jobs, which
// Hold has a handler serve (package transfer): the worker has folders of the host's own.
package ssh
