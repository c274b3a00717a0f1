package ec2

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
)

const (
	// margin is how long before the end of the budget machines are ended, as calls take time.
	margin = 20 * time.Second
	// defaultPatience is how long a machine may take to come up, unless the catalogue says otherwise.
	defaultPatience = 10 * time.Minute
	// lateness is how long a new machine may be missing when the provider is asked for its tags.
	lateness = 2 * time.Minute
	// refusal is how long ssh must be refused in words that do not pass by themselves until a machine counts as closed: keys may come a little after the server.
	refusal = time.Minute
	// tries is the number of machines that may fail to come up before a rank gets no further one.
	tries = 2
)

// observe records what the provider reports about machines of the allocation: new ones and ended ones. vanished are the machines that
// were up and have ended now.
func (l *ledger) observe(now job.Time, seen []instance) (vanished []*machine) {
	slices.SortFunc(seen, func(a, b instance) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.ID, b.ID)) })
	byID := map[string]instance{}
	for _, i := range seen {
		byID[i.ID] = i
		l.admit(i, now)
	}
	l.Orders = slices.DeleteFunc(l.Orders, l.seen)
	for _, m := range l.live() {
		i, there := byID[m.ID]
		switch {
		case there && i.lives():
			m.Address = cmp.Or(i.address(), m.Address)
			continue
		case !there && now < m.Since.Add(lateness):
			continue // the provider may not list it yet
		}
		m.Ended, m.Why = now, "the provider has ended it"
		if i.tag(tagStopped) != "" {
			m.Why = "it was stopped by hand"
			l.Gone[m.Rank] = m.Why
		} else if i.Reason != "" {
			m.Why += ": " + i.Reason
		}
		vanished = append(vanished, m)
	}
	return vanished
}

// seen says whether all machines of an order are known. The provider may list a part of them first; then the order's result is
// unknown until its call, which rents nothing more, is repeated.
func (l *ledger) seen(o order) bool {
	return count(l.Machines, func(m machine) bool { return m.Order == o.Token }) >= len(o.Ranks)
}

// admit records an unknown machine. It belongs to an order whose result was unknown, or to an order that is completed.
func (l *ledger) admit(i instance, now job.Time) {
	if l.find(i.ID) != nil {
		return
	}
	m := machine{ID: i.ID, Kind: -1, Rank: -1, Order: i.tag(tagOrder), Address: i.address(), Since: min(i.since(), now)}
	if !i.lives() {
		m.Ended, m.Why = now, cmp.Or(i.Reason, "it ended right after its start")
	}
	for _, o := range l.Orders {
		if o.Token == m.Order {
			m.Kind = o.Kind
			free := slices.IndexFunc(o.Ranks, func(r int) bool {
				return !slices.ContainsFunc(l.live(), func(other *machine) bool { return other.Rank == r })
			})
			if free >= 0 {
				m.Rank = o.Ranks[free]
			}
		}
	}
	if m.Kind < 0 && !i.lives() {
		return
	}
	if m.Kind < 0 { // it is a late machine of a completed order
		m.Kind = max(0, slices.IndexFunc(l.Rent.Machines, func(r job.Rented) bool { return r.Name == i.tag(tagType) }))
	}
	l.Machines = append(l.Machines, m)
}

// complete records the result of an order's call: machines, or an error. If not all machines were available, a second order asks for fewer. Ranks that still get none stay without one.
func (l *ledger) complete(o order, got []instance, err error, now job.Time) {
	if err != nil && job.ClassOf(err) == job.Transient && !slices.Contains(scarce, code(err)) {
		return // it is unknown whether anything was rented: tags will show it, or the call is repeated
	}
	for _, i := range got {
		l.admit(i, now)
	}
	l.Orders = slices.DeleteFunc(l.Orders, func(x order) bool { return x.Token == o.Token })
	if word := code(err); !o.Few && len(o.Ranks) > 1 && (slices.Contains(scarce, word) || slices.Contains(beyond, word)) {
		o.Token, o.Few, o.At = o.Token+"-few", true, now
		l.Orders = append(l.Orders, o)
		return
	}
	for _, r := range o.Ranks {
		if l.has(r) {
			continue
		}
		l.Gone[r] = fmt.Sprintf("fewer machines of type %s were available than requested", l.Rent.Machines[o.Kind].Name)
		if err != nil {
			l.Gone[r] = err.Error()
		}
	}
}

// ends returns the machines that are to be ended now, with the reason in their Why. other is what other allocations will have spent
// of the same budget a margin from now.
func (l *ledger) ends(now job.Time, other float64) (all []*machine) {
	end := func(m *machine, why string) {
		m.Why = why
		all = append(all, m)
	}
	sum := other + l.spent(now.Add(margin))
	live := l.live()
	slices.SortStableFunc(live, func(a, b *machine) int { return cmp.Compare(b.Rank, a.Rank) })
	for _, m := range live {
		more := l.cost(m, now.Add(margin)) - l.cost(m, now)
		switch {
		case l.Over:
			end(m, "no job needs it any more")
		case m.Rank < 0:
			end(m, "it was not requested")
		case l.Gone[m.Rank] != "":
			end(m, l.Gone[m.Rank])
		case l.Rent.Budget > 0 && sum > l.Rent.Budget && more > 0:
			l.Gone[m.Rank] = "the budget of " + job.Money(l.Rent.Budget) + " is used up"
			end(m, l.Gone[m.Rank])
			sum -= more
		case m.Up == 0 && (now >= m.Since.Add(l.patience()) || m.Refused != 0 && now >= m.Refused.Add(refusal)):
			end(m, l.absent(m))
			if m.Refused != 0 || l.failed(m.Rank) >= tries-1 { // another one would refuse, too
				l.Gone[m.Rank] = m.Why
			}
		}
	}
	return all
}

// absent returns why a machine that is not up is ended.
func (l *ledger) absent(m *machine) string {
	why := "it did not come up within " + job.FormatDuration(l.patience())
	if m.Refused != 0 {
		why = "ssh cannot log in"
	}
	if m.Said != "" {
		why += ": " + m.Said
	}
	if m.Refused != 0 {
		why += " (user in the catalogue names the image's user)"
	}
	return why
}

// hear notes what ssh says of a machine that is not up. Words that differ only in the machine are the same for all.
func (m *machine) hear(now job.Time, err error) {
	e := &job.Error{}
	if m.Said = err.Error(); errors.As(err, &e) && e.Err != nil {
		m.Said = e.Err.Error()
	}
	m.Said = strings.NewReplacer(m.ID, "machine", cmp.Or(m.Address, m.ID), "machine").Replace(m.Said)
	switch {
	case e.Class != job.User:
		m.Refused = 0
	case m.Refused == 0:
		m.Refused = now
	}
}

// patience returns how long a machine may take to come up.
func (l *ledger) patience() time.Duration { return cmp.Or(l.Rent.Patience, defaultPatience) }

// failed returns the number of a rank's machines that did not come up.
func (l *ledger) failed(rank int) int {
	return count(l.Machines, func(m machine) bool { return m.Rank == rank && m.Up == 0 && m.Ended != 0 })
}

// wants returns the orders that are to be made now, with new tokens. A machine that was up and has vanished is replaced if others are up. Otherwise the
// allocation is given up, as all data of its nodes is lost.
func (l *ledger) wants(now job.Time, other float64, token func() string) (all []order) {
	if l.Over {
		return nil
	}
	sum := other + l.spent(now.Add(margin))
	for rank := range l.Rent.Most() {
		if l.has(rank) || l.Gone[rank] != "" {
			continue
		}
		if l.Rent.Budget > 0 {
			least := bill(l.Rent.Machines[l.Rent.Wanted(rank)], 2*margin)
			if sum += least; sum > l.Rent.Budget {
				l.Gone[rank] = "the budget of " + job.Money(l.Rent.Budget) + " is used up"
				continue
			}
		}
		if last := l.last(rank); last != nil && last.Up != 0 && l.up() == 0 {
			l.Gone[rank], l.Taken = last.Why, true
			continue
		}
		kind := l.Rent.Wanted(rank)
		if n := len(all); n == 0 || all[n-1].Kind != kind {
			all = append(all, order{Token: token(), Kind: kind, At: now})
		}
		o := &all[len(all)-1]
		o.Ranks = append(o.Ranks, rank)
	}
	l.Orders = append(l.Orders, all...)
	return all
}

// last returns the last machine of a rank, or nil.
func (l *ledger) last(rank int) *machine {
	for i := range slices.Backward(l.Machines) {
		if l.Machines[i].Rank == rank {
			return &l.Machines[i]
		}
	}
	return nil
}

// incomplete returns the orders without a known result, which are to be repeated with their tokens. Orders of an ended allocation are
// removed if none of their machines has appeared within lateness.
func (l *ledger) incomplete(now job.Time) []order {
	if l.Over {
		l.Orders = slices.DeleteFunc(l.Orders, func(o order) bool { return now >= o.At.Add(lateness) })
		return nil
	}
	return slices.Clone(l.Orders)
}

// lost returns the reason if the allocation has no machine left and gets none, else "".
func (l *ledger) lost() string {
	if l.Over || len(l.live()) > 0 || len(l.Orders) > 0 {
		return ""
	}
	for rank := range l.Rent.Most() {
		if l.Gone[rank] == "" {
			return ""
		}
	}
	return "no rented machine is left: " + l.reasons()
}

// reasons returns the reasons why ranks have no machine, each one once.
func (l *ledger) reasons() string {
	counts, all := map[string]int{}, []string{}
	for rank := range l.Rent.Most() {
		if why := l.Gone[rank]; why != "" && why != notNeeded {
			if counts[why]++; counts[why] == 1 {
				all = append(all, why)
			}
		}
	}
	for i, why := range all {
		if counts[why] > 1 {
			all[i] += fmt.Sprintf(" (%d machines)", counts[why])
		}
	}
	return strings.Join(all, "; ")
}
