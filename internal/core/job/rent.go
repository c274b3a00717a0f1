package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rent says which machines to rent for an allocation, and how much they may cost.
type Rent struct {
	Machines  []Rented      `msgpack:"m,omitempty" json:"machines,omitempty"`     // their types
	Catalogue string        `msgpack:"-" json:"catalogue,omitempty"`              // file with types and prices, until they are known
	Budget    float64       `msgpack:"b,omitempty" json:"budget,omitempty"`       // what all machines may cost
	Deadline  time.Duration `msgpack:"d,omitempty" json:"deadline_ns,omitempty"`  // deadline, in nanoseconds after the submission
	Region    string        `msgpack:"r,omitempty" json:"region,omitempty"`       // of the provider
	Account   string        `msgpack:"a,omitempty" json:"account,omitempty"`      // allocations with the same one share the budget
	Predicted *Forecast     `msgpack:"-" json:"predicted,omitempty"`              // predicted for the choice
	Front     []Choice      `msgpack:"-" json:"front,omitempty"`                  // the front, the cheapest first; of a long one only a part
	Server    float64       `msgpack:"-" json:"server_bytes_s,omitempty"`         // capacity of the data server
	Purpose   string        `msgpack:"p,omitempty" json:"purpose,omitempty"`      // name of the job that asked for them first
	Patience  time.Duration `msgpack:"pa,omitempty" json:"patience_ns,omitempty"` // how long a machine may take to start
}

// Forecast is the cost and the makespan of a job on rented machines, predicted or measured.
type Forecast struct {
	Cost      float64 `json:"cost"`                 // cost of all machines of the job's allocation, until the job was over
	Makespan  float64 `json:"makespan_s"`           // seconds from submission until the job was over
	ServerUse float64 `json:"server_use,omitempty"` // used fraction of the data server's capacity; may be absent: not known
}

// Choice is the prediction for one choice of machines on a front.
type Choice struct {
	Cost     float64 `json:"cost"`              // in the currency of the catalogue
	Makespan float64 `json:"makespan_s"`        // from the request for machines until all tasks are done, on average
	Low      float64 `json:"low_s"`             // 10 % of such bags take no longer
	Up       float64 `json:"up_s"`              // 90 % of such bags take no longer
	Machines string  `json:"machines"`          // how many machines of which types, as `--machines` takes them
	Chosen   bool    `json:"chosen,omitempty"`  // the choice that the job runs on
	Tipping  bool    `json:"tipping,omitempty"` // from here on more money buys little time
}

// Rented is machines of one type.
type Rented struct {
	Name  string `msgpack:"n" json:"name"`                      // as the catalogue calls it; `:spot` at its end: at the spot price
	Count int    `msgpack:"c" json:"count"`                     // how many
	More  int    `msgpack:"mo,omitempty" json:"more,omitempty"` // machines that may be rented beyond `count`

	// The following fields describe the type. They are filled in from the catalogue and the provider; until then Instance, the provider's name, is empty.
	Instance string    `msgpack:"i,omitempty" json:"instance,omitempty"` // as EC2 calls the type
	Has      Resources `msgpack:"h,omitempty" json:"has,omitzero"`       // what a machine has
	Image    string    `msgpack:"im,omitempty" json:"image,omitempty"`
	User     string    `msgpack:"u,omitempty" json:"user,omitempty"` // who logs in there
	Subnet   string    `msgpack:"s,omitempty" json:"subnet,omitempty"`
	Groups   []string  `msgpack:"g,omitempty" json:"security_groups,omitempty"`
	Price    float64   `msgpack:"p,omitempty" json:"price,omitempty"`      // price of a machine for an hour; may be absent: not known
	Unit     float64   `msgpack:"un,omitempty" json:"unit_s,omitempty"`    // billing unit in seconds; each started one is paid
	Minimum  float64   `msgpack:"mi,omitempty" json:"minimum_s,omitempty"` // seconds that are paid at least
	Boot     float64   `msgpack:"b,omitempty" json:"boot_s,omitempty"`     // seconds until a machine takes its first task
	Limit    int       `msgpack:"l,omitempty" json:"limit,omitempty"`      // machines at most
}

// Money writes a cost, also one below a cent so that it differs from nothing: 12.50, 0.0042.
func Money(x float64) string {
	if x > 0 && x < 0.01 {
		return strconv.FormatFloat(x, 'g', 2, 64)
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}

// SpotEnd is the suffix of the name of a type that is rented at the spot price.
const SpotEnd = ":spot"

// Spot reports whether the machines are rented at the spot price.
func (r Rented) Spot() bool { return strings.HasSuffix(r.Name, SpotEnd) }

// Count returns the number of machines that are rented at first.
func (r Rent) Count() int {
	n := 0
	for _, m := range r.Machines {
		n += m.Count
	}
	return n
}

// Most returns the largest number of machines at one time: those that are rented at first and further ones.
func (r Rent) Most() int {
	n := r.Count()
	for _, m := range r.Machines {
		n += m.More
	}
	return n
}

// Wanted returns the index in Machines of the machine with that rank. Ranks below Count belong to the machines that are rented at first, in the order of
// Machines; ranks from Count to Most belong to further machines, in the same order. It returns −1 for a higher rank.
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

// key returns a text that is equal for requests whose machines can serve the same jobs.
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
