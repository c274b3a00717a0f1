// Package gang starts programs on the nodes of a task of several ranks, and lets launchers of ranks such as mpirun do so.
//
// On each node of a running gang there is a launch agent (Main), a link to berth in a private folder, which is called as ssh is called. It asks the
// worker of its node over a Unix socket to start a command on a node of the gang, and that worker asks the worker of the
// node over HTTPS. The agent's end of the connection is Run, and Serve the end where the program runs; between both, bytes are passed on.
//
// The package knows no attempts and no coordinator: package worker says which program a request may start, and where.
package gang
