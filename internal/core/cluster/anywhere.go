package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Anywhere is the name that stands for every partition that the user may use, where no partition has this name.
const Anywhere = "any"

// LeftOut is a partition that is not compared with others, and the reason.
type LeftOut struct {
	Partition string `json:"partition"`
	Why       string `json:"why"`
}

// Access is what decides, beside its size, in which partitions a request may run.
type Access struct {
	Account, QOS  string // empty: it names none
	PreemptibleOK bool   // it may lose its nodes to jobs of other partitions
}

// PartitionsFor returns the partitions that a request may use, the default one first and preemptible ones last, and all others but hidden ones with
// the reason. In the default one jobs run that say nothing, so it counts also where its jobs may lose their nodes.
func (q *Queue) PartitionsFor(by Access) (names []string, out []LeftOut) {
	var last []string
	for i := range q.Partitions {
		p := &q.Partitions[i]
		if p.Hidden || strings.Contains(p.Name, ",") { // no list names such a one
			continue
		}
		why := cmp.Or(p.Closed, p.Later, q.Accounting.refuses(by.Account, by.QOS, p))
		if why == "" && p.Preempted != "" && !p.Default && !by.PreemptibleOK {
			why = p.Preempted + "; --preemptible-ok says that this does no harm"
		}
		switch {
		case why != "":
			out = append(out, LeftOut{p.Name, why})
		case p.Default:
			names = slices.Insert(names, 0, p.Name)
		case p.Preempted != "":
			last = append(last, p.Name)
		default:
			names = append(names, p.Name)
		}
	}
	return append(names, last...), out
}

// Means reports whether a name stands for every partition that the user may use.
func (q *Queue) Means(name string) bool {
	return name == Anywhere && !slices.ContainsFunc(q.Partitions, func(p Partition) bool { return p.Name == name })
}

// refuses returns the reason why a partition takes no job with that account and QOS (empty: the job names none), or an empty string. Where
// accounting is not known neither are those of jobs that name none. They might wait for ever where only some are taken, as might those of an
// account below one that is taken: only later versions of Slurm look at the accounts above.
func (a *Accounting) refuses(account, qos string, p *Partition) string {
	if as := a.association(account, p.Name); as != nil {
		account, qos = as.Account, cmp.Or(qos, as.QOS)
	} else if a.elsewhere(account) {
		return "your account holds only in other partitions"
	}
	for _, x := range []struct {
		noun, flag, name string
		list             []string
		is               func(name string) bool
	}{
		{"account", "--account", account, p.Accounts, func(name string) bool {
			return name == account || a != nil && strings.HasPrefix(p.Accounts[0], "-") && a.within(account, name)
		}},
		{"QOS", "--qos", qos, p.QOSes, func(name string) bool { return name == qos }},
	} {
		switch {
		case listed(x.list, x.is):
		case x.name == "":
			return fmt.Sprintf("it takes only jobs of %s %s: name yours with %s", x.noun, strings.Join(x.list, ","), x.flag)
		default:
			return fmt.Sprintf("it takes no jobs of %s %s", x.noun, x.name)
		}
	}
	return ""
}

// elsewhere reports whether an account, or the default one, has associations, but each with one partition only.
func (a *Accounting) elsewhere(account string) bool {
	return a != nil && slices.ContainsFunc(a.Associations, func(as Association) bool {
		return as.Partition != "" && (account == as.Account || account == "" && as.Default)
	})
}

// listed reports whether a list of names admits what has one of the names that the function knows. It may be a list of those that are not
// admitted, with "-" before each name. No list admits all.
func listed(list []string, is func(name string) bool) bool {
	if len(list) == 0 {
		return true
	}
	denies := strings.HasPrefix(list[0], "-")
	return denies != slices.ContainsFunc(list, func(name string) bool {
		name, out := strings.CutPrefix(name, "-")
		return out == denies && is(name)
	})
}
