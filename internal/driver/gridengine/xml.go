package gridengine

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/internal/core/job"
)

// resource is a value in the output of qhost or qstat, such as hc:slots=2 or h_rt=600.
type resource struct {
	Name  string `xml:"name,attr"`
	Kind  string `xml:"dominance,attr"` // where the value comes from; "hc": what is left of a consumable of the host
	Value string `xml:",chardata"`
}

// host is a host in the output of qhost -F -q -xml, with its queue instances.
type host struct {
	Name      string     `xml:"name,attr"`
	Values    []resource `xml:"hostvalue"`
	Resources []resource `xml:"resourcevalue"`
	Queues    []instance `xml:"queue"`
}

// instance is a queue on a host.
type instance struct {
	Name   string     `xml:"name,attr"`
	Values []resource `xml:"queuevalue"`
}

// value returns the value with this name, or "".
func value(all []resource, name string) string {
	for _, r := range all {
		if r.Name == name {
			return strings.TrimSpace(r.Value)
		}
	}
	return ""
}

// consumable returns what is left of a consumable resource of the host. ok is false if the host does not limit it.
func (h *host) consumable(name string) (left string, ok bool) {
	for _, r := range h.Resources {
		if r.Name == name && strings.HasSuffix(r.Kind, "c") {
			return strings.TrimSpace(r.Value), true
		}
	}
	return "", false
}

// parseHosts reads qhost -F -q -xml.
func parseHosts(out string) ([]host, error) {
	var all struct {
		Hosts []host `xml:"host"`
	}
	err := decode(out, &all)
	return slices.DeleteFunc(all.Hosts, func(h host) bool { return h.Name == "global" }), err
}

// row is a line about a job in the output of qstat -r -g t -urg -pri -xml. A running job has one for each slot, and more.
type row struct {
	Number   string     `xml:"JB_job_number"`
	Priority float64    `xml:"JAT_prio"`
	Posix    float64    `xml:"JB_nppri"`   // that of qsub -p, from 0 to 1
	Wants    float64    `xml:"JB_rrcontr"` // urgency of the resources that it requests
	Waited   float64    `xml:"JB_wtcontr"` // urgency of its wait
	Deadline float64    `xml:"JB_dlcontr"` // urgency of its deadline
	Owner    string     `xml:"JB_owner"`
	State    string     `xml:"state"`
	Started  string     `xml:"JAT_start_time"`
	Instance string     `xml:"queue_name"` // "all.q@node1"
	Master   string     `xml:"master"`     // MASTER or SLAVE
	Slots    int        `xml:"slots"`
	Tasks    string     `xml:"tasks"` // of an array: those that wait, or the one that runs
	Name     string     `xml:"full_job_name"`
	Project  string     `xml:"JB_project"`
	PE       []resource `xml:"requested_pe"` // Value is the number of slots
	Granted  []resource `xml:"granted_pe"`
	Hard     []resource `xml:"hard_request"`
	Default  []resource `xml:"def_hard_request"`
	Queue    []string   `xml:"hard_req_queue"`
	After    []string   `xml:"predecessor_jobs"`
}

// request returns what a job requests of a resource, or "".
func (r *row) request(name string) string {
	if v := value(r.Hard, name); v != "" {
		return v
	}
	return value(r.Default, name)
}

// id returns the name of the row's job, with the task of an array that runs.
func (r *row) id() string {
	if r.Tasks != "" && r.running() {
		return r.Number + "." + r.Tasks
	}
	return r.Number
}

// urgency returns the urgency of the job, by which larger ones have a higher priority.
func (r *row) urgency() float64 { return r.Wants + r.Waited + r.Deadline }

// running reports whether the job has begun: its state is not one of a pending job.
func (r *row) running() bool { return !strings.Contains(r.State, "w") }

// parseJobs reads qstat -r -g t -urg -pri -xml.
func parseJobs(out string) ([]row, error) {
	var all struct {
		Running []row `xml:"queue_info>job_list"`
		Pending []row `xml:"job_info>job_list"`
	}
	err := decode(out, &all)
	return append(all.Running, all.Pending...), err
}

// detail is a job in the output of qstat -j ID -xml.
type detail struct {
	Number   string   `xml:"JB_job_number"`
	Script   string   `xml:"JB_script_file"`
	Reserve  string   `xml:"JB_reserve"`
	Begin    int64    `xml:"JB_execution_time"` // s
	Throttle int      `xml:"JB_ja_task_concurrency"`
	Errors   []string `xml:"JB_ja_tasks>ulong_sublist>JAT_message_list>ulong_sublist>QIM_message"`
	Faults   []string `xml:"JB_ja_tasks>element>JAT_message_list>element>QIM_message"`
}

// parseDetails reads qstat -j -xml. Its output for jobs that are all unknown has another root and gives none.
func parseDetails(out string) (map[string]detail, error) {
	var all struct {
		Jobs []detail `xml:"djob_info>element"`
	}
	if err := decode(out, &all); err != nil {
		return nil, err
	}
	jobs := make(map[string]detail, len(all.Jobs))
	for _, d := range all.Jobs {
		jobs[d.Number] = d
	}
	return jobs, nil
}

// decode reads XML. Grid Engine declares no encoding and copies what users have written, control characters included.
func decode(out string, into any) error {
	clean := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, out)
	d := xml.NewDecoder(strings.NewReader(clean))
	d.Strict = false
	if err := d.Decode(into); err != nil {
		return job.FatalError("gridengine", fmt.Sprintf("the output of a command is not understood: %v", err), nil)
	}
	return nil
}
