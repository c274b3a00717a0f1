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
	Machines  []Rented      `msgpack:"m,omitempty" json:"machines,omitempty"`
	Catalogue string        `msgpack:"-" json:"catalogue,omitempty"`              // file with the types and their prices; empty: there is none, or Machines has all of its data
	Budget    float64       `msgpack:"b,omitempty" json:"budget,omitempty"`       // largest cost of all machines together, in the currency of the prices; 0: no limit
	Deadline  time.Duration `msgpack:"d,omitempty" json:"deadline_ns,omitempty"`  // largest turnaround, for which machines are rented and given back; 0: no limit
	Region    string        `msgpack:"r,omitempty" json:"region,omitempty"`       // of the provider
	Account   string        `msgpack:"a,omitempty" json:"account,omitempty"`      // allocations of one account share its budget; empty: there is no budget
	Predicted *Forecast     `msgpack:"-" json:"predicted,omitempty"`              // for the chosen point of the front; nil: no point was chosen
	Front     []Choice      `msgpack:"-" json:"front,omitempty"`                  // the front from which the machines were chosen, cheapest choice first; a long front is thinned out. nil: there was no front
	Server    float64       `msgpack:"-" json:"server_bytes_s,omitempty"`         // capacity of the data server in bytes/s; 0: the user did not say
	Purpose   string        `msgpack:"p,omitempty" json:"purpose,omitempty"`      // name of the first job that requested the machines
	Patience  time.Duration `msgpack:"pa,omitempty" json:"patience_ns,omitempty"` // a machine that is not ready after this time is given back; 0: the default
}

// Forecast is the cost and the makespan of a job on rented machines, predicted or measured.
type Forecast struct {
	Cost      float64 `json:"cost"`                 // of its machines, until the end of the job
	Makespan  float64 `json:"makespan_s"`           // from its submission to its end
	ServerUse float64 `json:"server_use,omitempty"` // fraction of the data server's capacity in that time; 0: not known
}

// Choice is the prediction for one choice of machines on a front.
type Choice struct {
	Cost     float64 `json:"cost"`
	Makespan float64 `json:"makespan_s"`
	Low      float64 `json:"low_s"` // 10 % quantile of the makespan
	Up       float64 `json:"up_s"`  // 90 % quantile
	Machines string  `json:"machines"`
	Chosen   bool    `json:"chosen,omitempty"`
	Tipping  bool    `json:"tipping,omitempty"` // the tipping point: beyond it more money saves little time
}

// Rented is machines of one type.
type Rented struct {
	Name  string `msgpack:"n" json:"name"` // type in the catalogue, or the provider's name for it; with SpotEnd at its end: at the spot price
	Count int    `msgpack:"c" json:"count"`
	More  int    `msgpack:"mo,omitempty" json:"more,omitempty"` // further machines that may be rented while the job runs

	// The following fields describe the type. They are filled in from the catalogue and the provider; until then Instance, the provider's name, is empty.
	Instance string    `msgpack:"i,omitempty" json:"instance,omitempty"`
	Has      Resources `msgpack:"h,omitempty" json:"has,omitzero"`
	Image    string    `msgpack:"im,omitempty" json:"image,omitempty"`
	User     string    `msgpack:"u,omitempty" json:"user,omitempty"` // user name for the login
	Subnet   string    `msgpack:"s,omitempty" json:"subnet,omitempty"`
	Groups   []string  `msgpack:"g,omitempty" json:"security_groups,omitempty"`
	Price    float64   `msgpack:"p,omitempty" json:"price,omitempty"`      // of one machine for one hour; 0: unknown
	Unit     float64   `msgpack:"un,omitempty" json:"unit_s,omitempty"`    // billing period in seconds; a part of one costs as much as the whole
	Minimum  float64   `msgpack:"mi,omitempty" json:"minimum_s,omitempty"` // shortest time that is billed, in seconds
	Boot     float64   `msgpack:"b,omitempty" json:"boot_s,omitempty"`     // seconds until a machine can start its first task
	Limit    int       `msgpack:"l,omitempty" json:"limit,omitempty"`      // largest number of machines
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
