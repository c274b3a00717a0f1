package gridengine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// TestConditions: what a queue is on its hosts, as qconf and qhost of Son of Grid Engine 8.1.9 print it: its parallel environments, wall
// times, users, forced resources and calendars.
func TestConditions(t *testing.T) {
	t.Parallel()
	const (
		complexes = "highmem hm BOOL == FORCED NO 0 0\ngpu gpu INT <= FORCED YES 0 0\nh_vmem h_vmem MEMORY <= FORCED YES 1G 0\n"
		head      = "qname all.q\npe_list NONE,[@allhosts=two smp],[a=smp], \\\n    [d=NONE]\nh_rt 24:00:00,[b=48:00:00]\ncomplex_values NONE,[c=highmem=true]\n"
	)
	said, hosts := head, ""
	for _, x := range []string{"a smp 24:00:00 NONE", "b two,smp 48:00:00 NONE", "c two,smp 24:00:00 highmem=true", "d NONE 24:00:00 NONE", "e two,smp 1:0:0 NONE"} {
		f := strings.Fields(x)
		said += fmt.Sprintf("\nqname all.q\nhostname %s\npe_list %s\nh_rt %s\ncomplex_values %s\n", f[0], strings.ReplaceAll(f[1], ",", " "), f[2], f[3])
	}
	if got := differing(head + "\nqname b.q\npe_list smp\ntmpdir /tmp,[a=/a]\n"); !slices.Equal(got, []string{"all.q"}) {
		t.Errorf("%v differ", got)
	}
	c := newSite(rules{}, parseComplexes(complexes), parseQueues(said), parseObjects("pe_name smp\nslots 99\nallocation_rule $pe_slots\n\npe_name two\nslots 99\nallocation_rule 2\n"))
	for _, x := range []struct {
		states     string // of the queue on the hosts a to e
		open       string
		nodes      []int
		most       int
		later, off bool
	}{
		{"     ", "abcde", []int{0, 1, 2}, 3, false, false},
		{"     ", "ac", []int{0, 2}, 3, false, false},
		{"     ", "", nil, 3, false, true},
		{"DuE  ", "abcde", []int{1}, 3, false, false},
		{"DCE  ", "abcde", []int{0, 1}, 3, true, false},
		{"ddE  ", "abcde", nil, 3, false, true},
	} {
		hosts = ""
		open := ""
		for i, state := range x.states {
			name := string(rune('a' + i))
			hosts += "<host name='" + name + "'><resourcevalue name='gpu' dominance='" + map[bool]string{true: "hc", false: "hl"}[name == "b"] + "'>2</resourcevalue><queue name='all.q'><queuevalue name='slots'>2</queuevalue>" +
				"<queuevalue name='state_string'>" + strings.TrimSpace(string(state)) + "</queuevalue></queue></host>"
			if strings.Contains(x.open, name) {
				open += "all.q@" + name + "\n"
			}
		}
		all, err := parseHosts("<qhost>" + hosts + "</qhost>")
		if err != nil {
			t.Fatal(err)
		}
		v := view{site: c, hosts: all, open: open}
		p := v.snapshot(1).Queue.Partitions[0]
		if !slices.Equal(p.Nodes, x.nodes) || p.MaxNodes != x.most || (p.Later != "") != x.later || (p.Closed != "") != x.off || p.MaxTime != 24*time.Hour {
			t.Errorf("%+v: %+v", x, p)
		}
		if x.open == "abcde" && (len(p.Forced) != 2 || p.Forced[1] != "gpu|GPUs" || p.Forced[2] != "highmem|hm") {
			t.Errorf("forced: %v", p.Forced)
		}
	}
	if got := c.limit(&row{}, "all.q", "b"); got != 48*time.Hour {
		t.Errorf("a job on b ends after %v", got)
	}
	for nodes, want := range map[int]string{3: "two", 4: ""} {
		if pe, _, _ := c.environmentFor(job.AllocRequest{Nodes: nodes, PerNode: job.Resources{CPUs: 2}}, ""); pe != want {
			t.Errorf("%d nodes get %q, want %q", nodes, pe, want)
		}
	}
}

// TestAllows: who may use a parallel environment.
func TestAllows(t *testing.T) {
	t.Parallel()
	const owners = "name    owners\ntype    ACL\nfshare  0\noticket 0\nentries bo, \\\n        @staff\n"
	for _, x := range []struct{ mine, others, user, group, want string }{
		{"NONE", "NONE", "me", "users", "yes"},
		{"owners", "NONE", "me", "users", "no"},
		{"x,owners", "NONE", "bo", "users", "yes"},
		{"owners x", "NONE", "me", "staff", "yes"},
		{"NONE", "owners", "me", "staff", "no"},
		{"NONE", "owners", "staff", "users", "yes"},
	} {
		member := memberships(owners, x.user, x.group)
		if got := admits(map[string]string{"user_lists": x.mine, "xuser_lists": x.others}, member); got != (x.want == "yes") {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

// TestMemory: consumables of disks, swap and GPUs are of type MEMORY, too.
func TestMemory(t *testing.T) {
	t.Parallel()
	var lines, got []string
	for _, name := range strings.Fields("h_vmem s_vmem mem_free virtual_free h_rss mem ram_free tmem m_mem_free memory h_data tmpfs scratch tscratch ssd local_disk swap_free gpu_mem gram h_fsize h_stack") {
		lines = append(lines, name+" "+name+" MEMORY <= YES YES 0 0")
	}
	for _, x := range newSite(rules{}, parseComplexes(strings.Join(lines, "\n")), nil, nil).memory {
		got = append(got, x.name)
	}
	if want := "h_vmem s_vmem mem_free virtual_free h_rss mem ram_free tmem m_mem_free memory h_data"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestWaiting: why a job waits. The faults are those of qstat -j for a job whose prolog fails.
func TestWaiting(t *testing.T) {
	t.Parallel()
	failed := detail{Errors: []string{"11/28/2026 13:37:41 [0:9911]: exit_status of prolog = 2", "11/28/2026 13:37:45 [0:10337]: exit_status of prolog = 1"}}
	for _, x := range []struct {
		state  string
		prio   float64
		d      detail
		quotas bool
		asleep string
		never  bool
		says   string
	}{
		{"qw", 0.5, detail{}, false, "", false, "its nodes are not free yet"},
		{"qw", 0.5, detail{}, true, "", false, "its nodes are not free yet, or a quota of the site holds it (qquota)"},
		{"qw", 0.5, detail{}, true, "all.q@a\n", false, "its nodes are not free yet, or its queue is closed by its calendar now"},
		{"qw", 0.5, detail{}, false, "other.q@a\n", false, "its nodes are not free yet"},
		{"qw", 0, detail{}, true, "", false, "Grid Engine has not considered it yet, or its earliest start is not reached"},
		{"qw", 0.5, failed, true, "", false, "its start failed on 2 nodes: exit_status of prolog = 1 (such queues are in error until an administrator clears that by qmod -cq)"},
		{"Eqw", 0.5, failed, false, "", true, failed.Errors[1]},
		{"hqw", 0, failed, false, "", false, "it is held (qrls lets it start)"},
	} {
		st := (&site{rules: rules{quotas: x.quotas}}).waiting(&row{State: x.state, Priority: x.prio, Queue: []string{"all.q"}}, x.d, x.asleep)
		if st.Phase != batch.Waiting || st.Never != x.never || st.Why != x.says {
			t.Errorf("%+v: %+v", x, st)
		}
	}
	if r := parseRules("", "", "{\n   name         q1\n   description  NONE\n   enabled      TRUE\n   limit        users {*} to slots=1\n}\n"); !r.quotas {
		t.Error("quotas that hold are not seen")
	}
}
