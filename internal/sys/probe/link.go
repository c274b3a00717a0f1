package probe

import (
	"net"
	"path/filepath"
	"strings"
)

// LinkRate returns the speed of the network interface with this address, in bytes per second in
// each direction, as its driver reports it (sysfs, class/net/NAME/speed, Mb/s). The result is 0 if
// it is unknown, as for the loopback interface.
func LinkRate(address string) int64 {
	ip := net.ParseIP(strings.Trim(address, "[]"))
	if ip == nil || ip.IsLoopback() {
		return 0
	}
	interfaces, err := net.Interfaces()
	if err != nil {
		return 0
	}
	for _, i := range interfaces {
		addresses, err := i.Addrs()
		if err != nil {
			continue // the interface was removed
		}
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
				return linkSpeed("/sys/class/net", i.Name)
			}
		}
	}
	return 0
}

// linkSpeed reads the speed of an interface below the folder root.
func linkSpeed(root, name string) int64 {
	megabits, err := readCount(filepath.Join(root, name, "speed"))
	if err != nil { // also for -1: the driver does not know the speed
		return 0
	}
	return int64(megabits) * 1e6 / 8
}
