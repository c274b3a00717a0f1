package gridengine

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parseObjects reads the output of qconf or qacct for one or several objects: a line for each attribute, that a backslash continues, and an
// empty line, or one of equals signs, between objects.
func parseObjects(out string) (objects []map[string]string) {
	var o map[string]string
	for line := range strings.Lines(strings.ReplaceAll(out, "\\\n", " ")) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "", strings.HasPrefix(name, "===="):
			o = nil
			continue
		case strings.HasPrefix(name, "#"):
			continue
		case o == nil:
			o = map[string]string{}
			objects = append(objects, o)
		}
		o[name] = strings.Join(strings.Fields(text), " ")
	}
	return objects
}

// queue is a cluster queue (qconf -sq), or what it is on one host.
type queue struct {
	name  string
	limit time.Duration    // h_rt; 0: none
	pes   []string         // parallel environments that its jobs may use
	has   []string         // resources of its own, as in "bigmem=TRUE"
	hosts map[string]queue // what it is on each host; nil: the same on all
}

// on returns what the queue is on a host.
func (q *queue) on(host string) queue {
	if h, ok := q.hosts[host]; ok {
		return h
	}
	return *q
}

// offering returns on how many hosts jobs in the queue may use a parallel environment, which is on all if they do not differ.
func (q *queue) offering(pe string) (n int) {
	for _, h := range q.hosts {
		if slices.Contains(h.pes, pe) {
			n++
		}
	}
	if q.hosts == nil && slices.Contains(q.pes, pe) {
		return allHosts
	}
	return n
}

// allHosts is more hosts than a cluster has.
const allHosts = 1 << 20

// common returns the part of an attribute that holds for all hosts: "mpi smp,[node1=mpi]" gives "mpi smp".
func common(text string) string {
	text, _, _ = strings.Cut(text, "[")
	return strings.Trim(text, ", ")
}

// list splits a list at spaces and commas. "NONE" is an empty one.
func list(text string) []string {
	if strings.EqualFold(text, "none") {
		return nil
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' })
}

// differing returns the names of the queues in the output of qconf -sq '*' that are not the same on all hosts.
func differing(out string) (names []string) {
	for _, o := range parseObjects(out) {
		if strings.Contains(o["h_rt"]+o["pe_list"]+o["complex_values"], "[") {
			names = append(names, o["qname"])
		}
	}
	return names
}

// parseQueues reads qconf -sq '*', and after it what differing queues are on each host, with groups of hosts resolved (qconf -sq 'NAME@*').
func parseQueues(out string) (all []queue) {
	for _, o := range parseObjects(out) {
		q := queue{name: o["qname"], limit: parseSpan(common(o["h_rt"])), pes: list(common(o["pe_list"])), has: list(common(o["complex_values"]))}
		i := slices.IndexFunc(all, func(of queue) bool { return of.name == q.name })
		switch host := o["hostname"]; {
		case q.name != "" && host == "":
			all = append(all, q)
		case i >= 0:
			if all[i].hosts == nil {
				all[i].hosts = map[string]queue{}
			}
			all[i].hosts[host] = q
		}
	}
	for i := range all {
		all[i].merge()
	}
	return all
}

// merge sets what the queue is from what it is on its hosts: any parallel environment of theirs, and the wall time of most.
func (q *queue) merge() {
	limits, most := map[time.Duration]int{}, 0
	for _, host := range slices.Sorted(maps.Keys(q.hosts)) {
		h := q.hosts[host]
		for _, pe := range h.pes {
			if !slices.Contains(q.pes, pe) {
				q.pes = append(q.pes, pe)
			}
		}
		limits[h.limit]++
		if n := limits[h.limit]; n > most || n == most && !shorter(h.limit, q.limit) {
			q.limit, most = h.limit, n
		}
	}
}

// shorter compares wall times, of which 0 is none.
func shorter(a, b time.Duration) bool { return a > 0 && (b == 0 || a < b) }

// environment is a parallel environment (qconf -sp).
type environment struct {
	name  string
	slots int    // of all its jobs together
	rule  string // allocation_rule
}

// perHost returns the fixed number of slots that the environment gives on each host, or 0 if it has none.
func (e environment) perHost() int {
	n, _ := strconv.Atoi(e.rule)
	return max(n, 0)
}

// shape returns the hosts that a job with this number of slots gets, and its slots on each. widest is the largest number of
// slots of a host, hosts the number of hosts.
func (e environment) shape(slots, widest, hosts int) (count, each int) {
	slots, widest, hosts = max(slots, 1), max(widest, 1), max(hosts, 1)
	switch {
	case e.perHost() > 0:
		return max(slots/e.perHost(), 1), e.perHost()
	case e.rule == "$round_robin":
		count = min(slots, hosts)
	case e.rule == "$fill_up":
		count = (slots + widest - 1) / widest
	default: // $pe_slots
		count = 1
	}
	return count, (slots + count - 1) / count
}

// matching returns the environment that a job requests, whose name may be a pattern.
func matching(all []environment, name string) environment {
	for _, e := range all {
		if ok, err := path.Match(name, e.name); e.name == name || ok && err == nil {
			return e
		}
	}
	return environment{name: name}
}

// complex is a resource that jobs can request (qconf -sc).
type complex struct {
	name, short string
	kind        string // MEMORY, INT, …
	relation    string
	forced      bool    // hosts and queues that have it are for jobs that request it
	consumed    string  // NO; YES: for each slot; JOB, HOST: once
	urgency     float64 // of each unit that a job requests
}

// parseComplexes reads qconf -sc.
func parseComplexes(out string) (all []complex) {
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 8 && !strings.HasPrefix(f[0], "#") {
			all = append(all, complex{name: f[0], short: f[1], kind: f[2], relation: f[3], forced: f[4] == "FORCED", consumed: strings.ToUpper(f[5]), urgency: parseNumber(f[7])})
		}
	}
	return all
}

// rules are the settings of the scheduler and of the cluster that plans depend on.
type rules struct {
	reservations int           // max_reservation: of so many jobs
	length       time.Duration // default_duration: of a job without a limit; 0: none
	atOnce       int           // maxujobs: jobs of a user that run; 0: no limit
	unended      int           // max_u_jobs: jobs of a user that have not ended; 0: no limit
	quotas       bool          // resource quotas hold, which are not read

	// Weights of what makes the priority of a pending job: the urgency of its resources and its wait, and that of qsub -p.
	urgency, posix float64
	tickets        bool // shares of users count, too, which only the scheduler knows
}

// admits reports whether the access lists of an object, such as a parallel environment, let a user in who is in some of all lists.
func admits(o map[string]string, member map[string]bool) bool {
	in := func(name string) bool { return member[name] }
	mine := list(o["user_lists"])
	return (len(mine) == 0 || slices.ContainsFunc(mine, in)) && !slices.ContainsFunc(list(o["xuser_lists"]), in)
}

// memberships reads qconf -su: in which of the access lists a user with this group is.
func memberships(out, user, group string) map[string]bool {
	member := map[string]bool{}
	for _, o := range parseObjects(out) {
		entries := list(o["entries"])
		member[o["name"]] = slices.Contains(entries, user) || slices.Contains(entries, "@"+group)
	}
	return member
}

// parseRules reads qconf -ssconf, qconf -sconf and qconf -srqs.
func parseRules(scheduler, global, quotas string) (r rules) {
	for _, o := range parseObjects(scheduler) {
		r.reservations, r.length, r.atOnce = parseCount(o["max_reservation"]), parseSpan(o["default_duration"]), parseCount(o["maxujobs"])
		r.urgency, r.posix = parseNumber(o["weight_urgency"]), parseNumber(o["weight_priority"])
		r.tickets = parseNumber(o["weight_ticket"])*(parseNumber(o["weight_tickets_functional"])+parseNumber(o["weight_tickets_share"])) > 0
	}
	for _, o := range parseObjects(global) {
		r.unended = parseCount(o["max_u_jobs"])
	}
	for _, o := range parseObjects(quotas) {
		r.quotas = r.quotas || strings.EqualFold(o["enabled"], "TRUE")
	}
	return r
}
