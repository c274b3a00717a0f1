package job

import (
	"strconv"
	"strings"
)

// Host is a machine that ssh reaches by its name.
type Host struct {
	Name string `msgpack:"n" json:"name"`           // as `ssh` takes it; `:` is this machine
	CPUs int    `msgpack:"c,omitempty" json:"cpus"` // cores for tasks; 0: all cores of the host
}

// ThisHost is the name of this machine, as in GNU parallel.
const ThisHost = ":"

// String writes the host as users write it: 8/host, or host.
func (h Host) String() string {
	if h.CPUs == 0 {
		return h.Name
	}
	return strconv.Itoa(h.CPUs) + "/" + h.Name
}

// Remote lists the hosts of an allocation and says how they are reached.
type Remote struct {
	Hosts   []Host `msgpack:"h,omitempty" json:"hosts,omitempty"`   // each of them runs a worker
	Command string `msgpack:"c,omitempty" json:"command,omitempty"` // the command that connects to the hosts, with its options; may be absent: `ssh`
	Agent   string `msgpack:"a,omitempty" json:"agent,omitempty"`   // socket of the user's agent
	Rent    Rent   `msgpack:"r,omitempty" json:"rent,omitzero"`     // machines that are rented for it (`--on ec2`)
	// PassEnv names variables of the user that tasks get where the user's files are not seen (Spec.Apart), and on rented machines.
	PassEnv []string `msgpack:"-" json:"pass_env,omitempty"` // the variables of `--pass-env`
}

// Away reports whether the allocation's nodes are hosts or rented machines, which ssh reaches.
func (r Remote) Away() bool { return len(r.Hosts) > 0 || len(r.Rent.Machines) > 0 }

// First returns the request with the first n hosts or machines.
func (r Remote) First(n int) Remote {
	r.Hosts, r.Rent = r.Hosts[:min(n, len(r.Hosts))], r.Rent.First(n)
	return r
}

// Key returns a text that is equal for requests with the same hosts and the same way to reach them. It leaves out the agent, which changes when a user
// logs in again.
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
