// Command fleet compares the predictions of berth front with real runs. It starts machines of three
// speeds on this machine, each in its own namespaces with a real ssh server and a limited link
// (package test/support/fleet). The user's end of the link is limited like a data server. The jobs
// are bags of picture conversions whose files are transferred.
//
//	go run ./lab/fleet -berth bin/berth -docs lab/results/rented.md
//	go run ./lab/fleet -up 2        starts machines that stay (make ssh-up); -down ends them
//	go run ./lab/fleet -berth bin/berth -shared   what is sent to each machine if tasks read the same files
//
// It first measures the task time on one machine of each type alone. It must run as root, and needs
// Debian's imagemagick, iproute2 and openssh-server.
package main
