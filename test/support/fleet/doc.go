// Package fleet is a test bed of machines on this one machine, which ssh reaches: real servers of ssh with keys of their own, and a configuration of
// ssh that names them.
//
// Machines apart (Options.Apart) share nothing with this machine but its programs and its processor: each is a set of namespaces with a network
// link, a home folder, /tmp, processes and a host name of its own. Their links are limited by tc, and so is the end of the one link that all of them have
// to the user's machine, the data server of a bag. A control group (version 1 or 2) bounds the processor time of all that ssh's server starts. All of that
// needs root, and Debian's iproute2 and openssh-server.
//
// Machines that are not apart are servers of ssh on ports of the loopback interface, which see all files of this machine as a shared file system would
// have them. They need no root.
//
// Nothing is left: Close removes all, and New what a process left that was killed before it could.
package fleet
