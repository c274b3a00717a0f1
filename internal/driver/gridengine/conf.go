package gridengine

import (
	"path"
	"strconv"
	"strings"
	"time"
)

// parseObjects reads the output of qconf for one or several objects: a line for each attribute, that a backslash continues, and an
// empty line between objects.
func parseObjects(out string) (objects []map[string]string) {
	var o map[string]string
	for line := range strings.Lines(strings.ReplaceAll(out, "\\\n", " ")) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case name == "":
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

// queue is a cluster queue (qconf -sq).
type queue struct {
	name  string
	limit time.Duration // h_rt; 0: none
	pes   []string      // parallel environments that its jobs may use
	has   []string      // resources of its own, as in "bigmem=TRUE"
}

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

// parseQueues reads qconf -sq '*'.
func parseQueues(out string) (all []queue) {
	for _, o := range parseObjects(out) {
		if o["qname"] != "" {
			all = append(all, queue{name: o["qname"], limit: parseSpan(common(o["h_rt"])), pes: list(common(o["pe_list"])), has: list(common(o["complex_values"]))})
		}
	}
	return all
}

// environment is a parallel environment (qconf -sp).
type environment struct {
	name  string
	slots int    // of all its jobs together
	rule  string // allocation_rule
}

// parseEnvironment reads qconf -sp.
func parseEnvironment(out string) environment {
	for _, o := range parseObjects(out) {
		return environment{name: o["pe_name"], slots: parseCount(o["slots"]), rule: o["allocation_rule"]}
	}
	return environment{}
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
	consumed    string  // NO; YES: for each slot; JOB, HOST: once
	urgency     float64 // of each unit that a job requests
}

// parseComplexes reads qconf -sc.
func parseComplexes(out string) (all []complex) {
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 8 && !strings.HasPrefix(f[0], "#") {
			all = append(all, complex{name: f[0], short: f[1], kind: f[2], relation: f[3], consumed: strings.ToUpper(f[5]), urgency: parseNumber(f[7])})
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

	// Weights of what makes the priority of a pending job: the urgency of its resources and its wait, and that of qsub -p.
	urgency, posix float64
	tickets        bool // shares of users count, too, which only the scheduler knows
}

// parseRules reads qconf -ssconf and qconf -sconf.
func parseRules(scheduler, global string) (r rules) {
	for _, o := range parseObjects(scheduler) {
		r.reservations, r.length, r.atOnce = parseCount(o["max_reservation"]), parseSpan(o["default_duration"]), parseCount(o["maxujobs"])
		r.urgency, r.posix = parseNumber(o["weight_urgency"]), parseNumber(o["weight_priority"])
		r.tickets = parseNumber(o["weight_ticket"])*(parseNumber(o["weight_tickets_functional"])+parseNumber(o["weight_tickets_share"])) > 0
	}
	for _, o := range parseObjects(global) {
		r.unended = parseCount(o["max_u_jobs"])
	}
	return r
}
