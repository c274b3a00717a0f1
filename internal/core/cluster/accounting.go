package cluster

import "cmp"

// Accounting is the limits that the batch system's accounting sets for one user on this cluster.
type Accounting struct {
	Associations []Association `json:"associations"`
	QOS          []QOS         `json:"qos"`
	Accounts     []Account     `json:"accounts,omitempty"`
}

// Association is the user's membership in an account, with its limits.
type Association struct {
	Account   string `json:"account"`
	Partition string `json:"partition,omitempty"` // the only partition where it holds; empty: all partitions without one of their own
	Default   bool   `json:"default,omitempty"`   // it holds for jobs that name no account
	QOS       string `json:"qos,omitempty"`       // of jobs that name no QOS
	Bounds    Bounds `json:"bounds"`
}

// QOS is a quality of service.
type QOS struct {
	Name string `json:"name"`
	Over bool   `json:"over,omitempty"` // its bounds go before those of the partition's QOS
	// MinCPUs are those that a job must have, on all nodes together; 0: no bound.
	MinCPUs int64  `json:"min_cpus,omitempty"`
	Bounds  Bounds `json:"bounds"`
}

// Bound names one of the bounds on a job.
type Bound int

// Bounds on a job, on all jobs of an account or QOS together, and on all of one user in a QOS together.
const (
	WallTime Bound = iota // nanoseconds
	JobNodes
	JobCPUs
	GroupNodes
	GroupCPUs
	UserNodes
	UserCPUs
	JobGPUs
	GroupGPUs
	UserGPUs
	numBounds
)

// Bounds are values by Bound; 0 is no bound.
type Bounds [numBounds]int64

// Limit is the least of some bounds and the name of who sets it. 0 is no limit.
type Limit struct {
	Value int64
	By    string
}

// Allowance is what accounting allows one job while no other job uses the shared limits.
type Allowance struct {
	Time  Limit // nanoseconds
	Nodes Limit
	CPUs  Limit // on all nodes together
	GPUs  Limit // on all nodes together
	Least int64 // of CPUs, that a job must have on all nodes together; 0 is no limit
}

// Allows returns what a job may use in a partition under that account and QOS (empty: the job names none). Slurm
// examines the QOS of the partition first, then the job's QOS and the association; of each bound the first that is
// set counts (Slurm's "Resource Limits", hierarchy). Without an Accounting, or for an account that is not in it,
// only the partition's own bounds count.
func (a *Accounting) Allows(account, qos string, p *Partition) Allowance {
	var set [numBounds]Limit
	also := func(bounds Bounds, by string) {
		for i, v := range bounds {
			if set[i].Value == 0 && v > 0 {
				set[i] = Limit{v, by}
			}
		}
	}
	also(p.Bounds, "partition "+p.Name)
	var leastCPUs int64
	if as := a.association(account, p.Name); as != nil {
		first, then := a.levels(as, qos, p)
		leastCPUs = cmp.Or(first.MinCPUs, then.MinCPUs)
		also(first.Bounds, "QOS "+first.Name)
		also(then.Bounds, "QOS "+then.Name)
		also(as.Bounds, "account "+as.Account)
	}
	return Allowance{Time: set[WallTime], Nodes: Least(set[JobNodes], set[GroupNodes], set[UserNodes]), CPUs: Least(set[JobCPUs], set[GroupCPUs], set[UserCPUs]), GPUs: Least(set[JobGPUs], set[GroupGPUs], set[UserGPUs]), Least: leastCPUs}
}

// levels returns the QOS whose bounds count first and second for a job in a partition: that of the partition and that
// of the job (the association's default if qos is empty), the latter first if it has Over.
func (a *Accounting) levels(as *Association, qos string, p *Partition) (first, then QOS) {
	if qos == "" {
		qos = as.QOS
	}
	first, then = a.qos(p.QOS), a.qos(qos)
	if then.Over {
		first, then = then, first
	}
	return first, then
}

// Least returns the lowest of the limits that are set, of equal ones the first.
func Least(limits ...Limit) (l Limit) {
	for _, x := range limits {
		if x.Value > 0 && (l.Value == 0 || x.Value < l.Value) {
			l = x
		}
	}
	return l
}

// association returns the association that holds for an account, or for a user who names none, in a partition; nil
// without one.
func (a *Accounting) association(account, partition string) (found *Association) {
	if a == nil {
		return nil
	}
	for i := range a.Associations {
		as := &a.Associations[i]
		if account != as.Account && !(account == "" && as.Default) {
			continue
		}
		if as.Partition == partition {
			return as
		}
		if as.Partition == "" {
			found = as
		}
	}
	return found
}

func (a *Accounting) qos(name string) QOS {
	for _, q := range a.QOS {
		if q.Name == name {
			return q
		}
	}
	return QOS{Name: name}
}
