package job

import (
	"strconv"
	"strings"
)

// Host is a machine that another program reaches by its name.
type Host struct {
	Name string `msgpack:"n" json:"name"`           // as ssh takes it: host, user@host; ThisHost for this machine
	CPUs int    `msgpack:"c,omitempty" json:"cpus"` // cores for tasks; 0: all that it has
}

// ThisHost is the name of the host that is this machine, as GNU parallel writes it.
const ThisHost = ":"

// String writes the host as users write it: 8/host, or host.
func (h Host) String() string {
	if h.CPUs == 0 {
		return h.Name
	}
	return strconv.Itoa(h.CPUs) + "/" + h.Name
}

// Remote says which hosts an allocation is on, and how they are reached.
type Remote struct {
	Hosts   []Host `msgpack:"h,omitempty" json:"hosts,omitempty"`   // a worker is to run on each
	Command string `msgpack:"c,omitempty" json:"command,omitempty"` // the program that reaches them with its options, words apart by blanks; empty: ssh
	Agent   string `msgpack:"a,omitempty" json:"agent,omitempty"`   // socket of the user's agent (SSH_AUTH_SOCK)
	Rent    Rent   `msgpack:"r,omitempty" json:"rent,omitzero"`     // machines that are to be rented instead
}

// Away reports whether the allocation's nodes are other machines, which ssh reaches.
func (r Remote) Away() bool { return len(r.Hosts) > 0 || len(r.Rent.Machines) > 0 }

// First returns the request with the first n hosts or machines.
func (r Remote) First(n int) Remote {
	r.Hosts, r.Rent = r.Hosts[:min(n, len(r.Hosts))], r.Rent.First(n)
	return r
}

// Key tells hosts and ways to reach them apart. The agent does not count: a user who logs in again has another one.
func (r Remote) Key() string {
	if !r.Away() {
		return ""
	}
	words := []string{r.Command + r.Rent.key()}
	for _, h := range r.Hosts {
		words = append(words, h.String())
	}
	return strings.Join(words, ",")
}
