// Package fleet is a test bed of machines on this one machine that are reached by ssh: real ssh
// servers with their own keys, and an ssh configuration that names them. New returns an empty fleet,
// and Boot adds a machine.
//
// Machines with Options.Apart share only the programs and the processor of this machine: each is a
// set of namespaces with its own network link, home folder, /tmp, processes and host name. Their
// links are limited by tc, and so is the user's end of the link that they share, which is the data
// server of a bag. Links can be cut, and can lose packets. A control group (version 1 or 2) limits
// the processor time of everything that the ssh server starts. This requires root, and Debian's
// iproute2 and openssh-server; nftables for links that lose packets.
//
// Other machines are ssh servers on ports of the loopback interface, which see all files of this
// machine as on a shared file system. They do not require root.
//
// Close removes everything, and New removes what a process left that was killed before it could.
package fleet
