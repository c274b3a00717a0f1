package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/cluster"
	"berth/internal/core/job"
	"berth/internal/driver/batch"
)

// TestRefusedForms: a site whose filter refuses --mem gets the same memory by --mem-per-cpu, one that refuses both, or a partition, a request
// without, of which the user learns, one that wants --ntasks has it, at once and with each later request. What it refuses besides is refused in its words.
func TestRefusedForms(t *testing.T) {
	says := func(words string) string {
		return "echo 'sbatch: error: " + words + "' >&2; echo 'sbatch: error: Batch job submission failed: Unspecified error' >&2; exit 1;;"
	}
	const notMem = "Use of --mem is not allowed here, use --mem-per-cpu"
	for _, c := range []struct {
		name, filter string
		args         []string
		calls        string // the options for memory, tasks and partition of each call
		says         string // the end; "": accepted
	}{
		{"--mem is refused", "*--mem=*) " + says(notMem), nil, "--mem=4096M -p --mem-per-cpu=2048M -p --mem-per-cpu=2048M -p", ""},
		{"all is accepted", "", nil, "--mem=4096M -p --mem=4096M -p", ""},
		{"a start is said, and the exit status is another", `*--test-only*) echo 'sbatch: Job 9 to start at 1795231277 using' >&2; echo 'Batch script is empty!' >&2; exit 1;;`, nil, "--mem=4096M -p --mem=4096M -p", ""},
		{"the user says how", "*--mem=*) " + says(notMem), []string{"--mem-per-cpu=1G"}, "--mem-per-cpu=1G -p --mem-per-cpu=1G -p", ""},
		{"what it asks for is refused, too", "*--mem*) " + says(notMem), nil,
			"--mem=4096M -p --mem-per-cpu=2048M -p --mem=4096M -p --mem-per-cpu=2048M -p", "use --mem-per-cpu"},
		{"no option for memory", "*--mem*) " + says("The --mem=... request is not allowed nor necessary on Trillium; each job get all the available memory of the node"), nil,
			"--mem=4096M -p --mem-per-cpu=2048M -p -p -p", ""},
		{"more memory than these cores have", "*--mem*) " + says("rejecting job, too much memory requested for 2 cores. You must increase number of requested cores instead of using --mem"), nil,
			"--mem=4096M -p --mem-per-cpu=2048M -p --mem=4096M -p --mem-per-cpu=2048M -p", "too much memory"},
		{"it chooses partitions", "*--partition*) " + says("Do not specify a partition; specify an account"), nil, "--mem=4096M -p --mem=4096M --mem=4096M", ""},
		{"one partition is refused", "*--partition*) " + says("submitted a job to a gpu32 partition, without specifying a GPU32 Account"), nil,
			"--mem=4096M -p --mem=4096M -p", "GPU32 Account"},
		{"another partition is advised", "*--partition*) " + says("You may not use this partition, and do not use --partition=gpu"), nil, "--mem=4096M -p --mem=4096M -p", "may not use"},
		{"it wants --ntasks", "*--ntasks=1*) ;; *) " + says("You must specify a number of tasks."), nil,
			"--mem=4096M -p --mem=4096M -p --ntasks=1 --mem=4096M -p --ntasks=1", ""},
		{"it wants three things", "*--ntasks=1*) case \"$*\" in *--mem=*) " + says(notMem) + " *--partition*) " + says("do not specify partitions") + " esac;; *) " + says("You must specify a number of tasks."), nil,
			"--mem=4096M -p --mem=4096M -p --ntasks=1 --mem-per-cpu=2048M -p --ntasks=1 --mem-per-cpu=2048M --ntasks=1 --mem-per-cpu=2048M --ntasks=1", ""},
		{"something else is refused", "*) " + says("no project"), nil, "--mem=4096M -p --mem=4096M -p", "no project; if it asks for an option, give that by --sbatch-arg"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, calls := fakeSlurm(t)
			for name, text := range map[string]string{
				"scontrol": "echo 'SelectTypeParameters = CR_CORE_MEMORY'",
				"sbatch":   `for a; do case $a in --mem*|--ntasks=*) echo "$a";; --partition=main) echo -p;; esac; done >>` + calls + `; case "$*" in ` + c.filter + ` esac; case "$*" in *--test-only*) echo 'sbatch: Job 9 to start at 1795231277 using' >&2;; *) echo 17;; esac`,
			} {
				if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			req := job.AllocRequest{Nodes: 1, PerNode: job.Resources{CPUs: 2, Mem: 4 << 30}, Batch: job.Batch{Partition: "main", Args: c.args}}
			s := Open([]string{"PATH=" + path + ":" + os.Getenv("PATH")})
			out, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = out.Close() }()
			said := ""
			_, tested := s.Test(t.Context(), req)
			_, err = s.Submit(t.Context(), batch.Submission{Request: req, Script: "/x", Dir: "/", Output: "/o", Note: func(text string) { said = text }}, out)
			if lost := c.says == "" && strings.Contains(c.filter, "--partition"); lost != strings.Contains(said, "not main") {
				t.Errorf("it says of the partition %q", said)
			}
			for _, err := range []error{tested, err} {
				if c.says == "" && err != nil || c.says != "" && (job.ClassOf(err) != job.User || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("it is refused: %v", err)
				}
			}
			text, _ := os.ReadFile(calls)
			if got := strings.Join(strings.Fields(string(text)), " "); !strings.HasSuffix(got, c.calls) {
				t.Errorf("called with %s, want %s", got, c.calls)
			}
		})
	}
}

// TestPartitionLimits: what a job may have of a node is as its partition says, or else the cluster, whose memory counts only where it is allocated.
func TestPartitionLimits(t *testing.T) {
	const allocated = "SelectTypeParameters = CR_CORE_MEMORY\n"
	for _, c := range []struct {
		config, part string
		want         cluster.Partition
	}{
		{allocated, "MaxCPUsPerNode=UNLIMITED MaxMemPerNode=UNLIMITED", cluster.Partition{}},
		{allocated, "MaxCPUsPerNode=4 MaxMemPerNode=2000", cluster.Partition{MaxPerNode: job.Resources{CPUs: 4, Mem: 2000 << 20}}},
		{allocated + "MaxMemPerNode = 900\n", "MaxCPUsPerNode=UNLIMITED MaxMemPerCPU=500", cluster.Partition{MaxMemPerCPU: 500 << 20}},
		{allocated + "MaxMemPerCPU = 900\n", "MaxCPUsPerNode=UNLIMITED MaxMemPerNode=UNLIMITED", cluster.Partition{MaxMemPerCPU: 900 << 20}},
		{allocated + "MaxMemPerNode = 900\n", "MaxMemPerNode=UNLIMITED", cluster.Partition{MaxPerNode: job.Resources{Mem: 900 << 20}}},
		{"MaxMemPerNode = 900\n", "MaxMemPerCPU=500 MaxCPUsPerNode=2", cluster.Partition{MaxPerNode: job.Resources{CPUs: 2}}},
	} {
		at := &places{}
		got, _ := parsePartitions("PartitionName=p "+c.part+"\n", at, parseSite(c.config), caller{})
		if at.err != nil || len(got) != 1 || got[0].MaxPerNode != c.want.MaxPerNode || got[0].MaxMemPerCPU != c.want.MaxMemPerCPU {
			t.Errorf("%s%s: %+v, %v", c.config, c.part, got, at.err)
		}
	}
}

// TestPartitionsShown: root sees hidden partitions, others are only told that one takes nodes. A partition for groups is closed to a user who is in
// none of them, as far as berth can know that.
func TestPartitionsShown(t *testing.T) {
	const out = "PartitionName=spare AllowGroups=ALL Nodes=n1 PriorityTier=1 PreemptMode=REQUEUE\nPartitionName=owners Hidden=YES AllowGroups=ALL Nodes=n1 PriorityTier=2 PreemptMode=OFF\n" +
		"PartitionName=lab AllowGroups=lab,staff Nodes=n1\nPartitionName=gid AllowGroups=1234 Nodes=n1\nPartitionName=domain AllowGroups=domain users Nodes=n1\n"
	for _, c := range []struct {
		who  caller
		want string
	}{
		{caller{groups: []string{"users"}}, "spare gid domain, but lab"},
		{caller{groups: []string{"users", "staff"}}, "spare lab gid domain, but"},
		{caller{}, "spare lab gid domain, but"},
		{caller{admin: true, anyGroup: true, groups: []string{"root"}}, "spare owners lab gid domain, but"},
	} {
		got, _ := parsePartitions(out, &places{index: map[string]int{"n1": 0}}, site{preempts: true}, c.who)
		var open, shut []string
		for _, p := range got {
			if p.Closed == "" {
				open = append(open, p.Name)
			} else {
				shut = append(shut, p.Name)
			}
		}
		if text := strings.TrimSpace(strings.Join(open, " ") + ", but " + strings.Join(shut, " ")); text != c.want || !strings.Contains(got[0].Preempted, "owners") {
			t.Errorf("%+v: %s, want %s; %s", c.who, text, c.want, got[0].Preempted)
		}
	}
}

// TestReservationsAdmit: a reservation is the user's by users and by groups, as Slurm 22.05 prints them. Of accounts the request decides.
func TestReservationsAdmit(t *testing.T) {
	const line = "ReservationName=r StartTime=1795875689 EndTime=1795879289 Duration=01:00:00 Nodes=n2 NodeCnt=1 CoreCnt=4 Features=(null) PartitionName=(null) %s Licenses=(null) State=ACTIVE BurstBuffer=(null) Watts=n/a MaxStartDelay=(null)\n"
	for _, c := range []struct {
		has      string
		mine     bool
		accounts string
		magnetic bool
	}{
		{"Flags=SPEC_NODES TRES=cpu=4 Users=root,me Groups=(null) Accounts=(null)", true, "", false},
		{"Flags=SPEC_NODES TRES=cpu=4 Users=root Groups=(null) Accounts=(null)", false, "", false},
		{"Flags=SPEC_NODES TRES=cpu=4 Users=(null) Groups=staff,lab Accounts=(null)", true, "", false},
		{"Flags=SPEC_NODES TRES=cpu=4 Users=(null) Groups=root Accounts=(null)", false, "", false},
		{"Flags=SPEC_NODES TRES=cpu=4 Users=(null) Groups=(null) Accounts=phys,bio", true, "phys,bio", false},
		{"Flags=SPEC_NODES TRES=cpu=4 Users=root Groups=(null) Accounts=phys", false, "phys", false},
		{"Flags=SPEC_NODES,MAGNETIC TRES=cpu=4 Users=-nobody Groups=(null) Accounts=-bio", true, "-bio", true},
		{"Flags=SPEC_NODES,MAGNETIC TRES=cpu=4 Users=-me Groups=(null) Accounts=(null)", false, "", true},
	} {
		at := &places{index: map[string]int{"n2": 1}}
		got := parseReservations(fmt.Sprintf(line, c.has), "me", []string{"me", "lab"}, at)
		if at.err != nil || len(got) != 1 || got[0].Mine != c.mine || strings.Join(got[0].Accounts, ",") != c.accounts || got[0].Magnetic != c.magnetic {
			t.Errorf("%s: %+v, %v", c.has, got, at.err)
		}
	}
}

// TestPrivate: where users see their own jobs only, the plan says so, but not to root.
func TestPrivate(t *testing.T) {
	for _, c := range []struct {
		private string
		admin   bool
		hidden  bool
	}{{"none", false, false}, {"usage,jobs", false, true}, {"usage,jobs", true, false}, {"nodes", false, false}} {
		snap, err := texts{config: "PrivateData = " + c.private + "\n", nodes: "NodeName=n1 CPUTot=2 State=IDLE\n"}.snapshot("me", c.admin)
		if err != nil || strings.Contains(snap.Queue.Hidden, "PrivateData=jobs") != c.hidden {
			t.Errorf("%+v: %q, %v", c, snap.Queue.Hidden, err)
		}
	}
}
