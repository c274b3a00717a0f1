package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rent says which machines are to be rented for an allocation, and for how much money.
type Rent struct {
	Machines  []Rented      `msgpack:"m,omitempty" json:"machines,omitempty"`
	Catalogue string        `msgpack:"-" json:"catalogue,omitempty"`              // file with the types and their prices; empty: there is none, or all that it says is in Machines
	Budget    float64       `msgpack:"b,omitempty" json:"budget,omitempty"`       // what all machines together may cost, in the currency of the prices; 0: no limit
	Deadline  time.Duration `msgpack:"d,omitempty" json:"deadline_ns,omitempty"`  // the job is to be done so long after it was submitted: machines are rented and given back for that; 0: whenever
	Region    string        `msgpack:"r,omitempty" json:"region,omitempty"`       // of the provider
	Account   string        `msgpack:"a,omitempty" json:"account,omitempty"`      // allocations of one account share its budget; empty: there is no budget
	Predicted *Forecast     `msgpack:"-" json:"predicted,omitempty"`              // of the point of the front that was chosen; nil: none was
	Front     []Choice      `msgpack:"-" json:"front,omitempty"`                  // on which they were chosen, the cheapest choice first; of a long one some choices. nil: they were not chosen on a front
	Server    float64       `msgpack:"-" json:"server_bytes_s,omitempty"`         // capacity of the data server, as far as the user said
	Purpose   string        `msgpack:"p,omitempty" json:"purpose,omitempty"`      // name of the job that asked for them first
	PassEnv   []string      `msgpack:"-" json:"pass_env,omitempty"`               // variables of the user's that tasks get on the machines
	Patience  time.Duration `msgpack:"pa,omitempty" json:"patience_ns,omitempty"` // a machine that is not up by then is given back; 0: as long as is usual
}

// Forecast is what a job on rented machines costs and takes, as it was predicted or as it came.
type Forecast struct {
	Cost      float64 `json:"cost"`                 // of its machines, until the job was over
	Makespan  float64 `json:"makespan_s"`           // from its submission until it was over
	ServerUse float64 `json:"server_use,omitempty"` // fraction of the data server's capacity in that time; 0: not known
}

// Choice is a choice of machines on a front, as it was predicted.
type Choice struct {
	Cost     float64 `json:"cost"`
	Makespan float64 `json:"makespan_s"`
	Low      float64 `json:"low_s"` // 10 % of such bags take no longer
	Up       float64 `json:"up_s"`  // 90 %
	Machines string  `json:"machines"`
	Chosen   bool    `json:"chosen,omitempty"`
	Tipping  bool    `json:"tipping,omitempty"` // from here on more money buys little time
}

// Rented is machines of one type.
type Rented struct {
	Name  string `msgpack:"n" json:"name"` // of the catalogue, or the provider's own; what ends in SpotEnd is had at the spot price
	Count int    `msgpack:"c" json:"count"`
	More  int    `msgpack:"mo,omitempty" json:"more,omitempty"` // that may be rented beyond Count while the job runs

	// What follows was found out of the type: Instance is what the provider calls it, and empty where nothing was found out yet.
	Instance string    `msgpack:"i,omitempty" json:"instance,omitempty"`
	Has      Resources `msgpack:"h,omitempty" json:"has,omitzero"`
	Image    string    `msgpack:"im,omitempty" json:"image,omitempty"`
	User     string    `msgpack:"u,omitempty" json:"user,omitempty"` // to log in as
	Subnet   string    `msgpack:"s,omitempty" json:"subnet,omitempty"`
	Groups   []string  `msgpack:"g,omitempty" json:"security_groups,omitempty"`
	Price    float64   `msgpack:"p,omitempty" json:"price,omitempty"`      // of a machine for an hour; 0: not known
	Unit     float64   `msgpack:"un,omitempty" json:"unit_s,omitempty"`    // seconds; each started one is paid
	Minimum  float64   `msgpack:"mi,omitempty" json:"minimum_s,omitempty"` // seconds that are paid at least
	Boot     float64   `msgpack:"b,omitempty" json:"boot_s,omitempty"`     // seconds until a machine takes its first task
	Limit    int       `msgpack:"l,omitempty" json:"limit,omitempty"`      // machines at most
}

// SpotEnd is the end of the name of a type at the spot price.
const SpotEnd = ":spot"

// Spot reports whether the machines are had at the spot price.
func (r Rented) Spot() bool { return strings.HasSuffix(r.Name, SpotEnd) }

// Count returns how many machines there are to be.
func (r Rent) Count() int {
	n := 0
	for _, m := range r.Machines {
		n += m.Count
	}
	return n
}

// Most returns how many machines there can be at one time: those that are rented at first, and further ones.
func (r Rent) Most() int {
	n := r.Count()
	for _, m := range r.Machines {
		n += m.More
	}
	return n
}

// Wanted returns the index in Machines of the machine of that rank: the first type has the first ranks. Ranks from Count on are of further machines, in
// the same order. It is −1 for ranks beyond Most.
func (r Rent) Wanted(rank int) int {
	for i, m := range r.Machines {
		if rank < m.Count {
			return i
		}
		rank -= m.Count
	}
	for i, m := range r.Machines {
		if rank < m.More {
			return i
		}
		rank -= m.More
	}
	return -1
}

// First returns the request with the first n machines.
func (r Rent) First(n int) Rent {
	r.Machines = slices.Clone(r.Machines)
	for i := range r.Machines {
		m := &r.Machines[i]
		m.Count = min(m.Count, n)
		n -= m.Count
	}
	r.Machines = slices.DeleteFunc(r.Machines, func(m Rented) bool { return m.Count == 0 })
	return r
}

// String writes the machines as users write them: m1.m=30,c1.m:spot=4.
func (r Rent) String() string {
	var words []string
	for _, m := range r.Machines {
		words = append(words, m.Name+"="+strconv.Itoa(m.Count))
	}
	return strings.Join(words, ",")
}

// key tells machines apart that do not serve the same jobs.
func (r Rent) key() string {
	if len(r.Machines) == 0 {
		return ""
	}
	words := []string{r.Region, r.Account}
	for _, m := range r.Machines {
		words = append(words, fmt.Sprint(m.Name, m.Count, m.More, m.Instance, m.Image, m.User, m.Subnet, m.Groups, m.Price))
	}
	return strings.Join(words, "|")
}
