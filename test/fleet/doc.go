// Command fleet holds the predictions of berth front against real runs: machines of three speeds on this machine, each in namespaces of its own with
// a real server of ssh and a limited link (package test/support/fleet), the end of the link on the user's side limited as a data server is, and
// bags of picture conversions whose files travel.
//
//	go run ./test/fleet -berth bin/berth -docs docs/rented.md
//	go run ./test/fleet -up 2        starts machines that stay (make ssh-up); -down ends them
//
// What a task takes on each type of machine is measured first, on one machine of the type alone. It needs root, and Debian's imagemagick, iproute2 and openssh-server.
package main
