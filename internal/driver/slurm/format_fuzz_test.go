package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/cluster"
)

// FuzzSnapshot checks that whatever Slurm prints, a snapshot refers only to its own nodes and
// contains no negative number.
func FuzzSnapshot(f *testing.F) {
	files, err := filepath.Glob("testdata/snapshot/*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var parts [5]string
		for i, name := range []string{"config", "nodes", "partitions", "reservations", "queue"} {
			_, rest, _ := strings.Cut(string(b), "\n"+name+"\n")
			parts[i], _, _ = strings.Cut(rest, "----")
		}
		f.Add(parts[0], parts[1], parts[2], parts[3], parts[4], "LicenseName=ansys Total=100 Used=2 Free=98 Reserved=0 Remote=no")
	}
	f.Fuzz(func(t *testing.T, config, nodes, partitions, reservations, queue, licences string) {
		rows, err := parseTable(strings.ReplaceAll(queue, "|", separator), len(queueFields))
		if err != nil {
			return
		}
		s, err := texts{config, nodes, partitions, reservations, rows, []string{"staff"}, licences}.snapshot("root", true)
		if err == nil {
			check(t, s)
		}
	})
}

func check(t *testing.T, s cluster.Snapshot) {
	places := func(what string, list []int) {
		for _, i := range list {
			if i < 0 || i >= len(s.Nodes) {
				t.Fatalf("%s is on node %d of %d", what, i, len(s.Nodes))
			}
		}
	}
	for _, n := range s.Nodes {
		if n.Name == "" || n.Free.CPUs < 0 || n.Free.Mem < 0 || n.Free.GPUs < 0 || !n.Free.Fits(n.Capacity) {
			t.Fatalf("node %+v", n)
		}
	}
	for _, l := range s.Queue.Licences {
		if l.Total < 0 || l.Free < 0 {
			t.Fatalf("licence %+v", l)
		}
	}
	for _, p := range s.Queue.Partitions {
		places("partition", p.Nodes)
	}
	for _, q := range append(s.Queue.Running, s.Queue.Pending...) {
		places("job", q.Nodes)
		if q.Count < 1 || q.PerNode.CPUs < 0 || q.PerNode.Mem < 0 || q.PerNode.GPUs < 0 || q.Limit < 0 || q.Repeat < 0 || q.Start < 0 {
			t.Fatalf("job %+v", q)
		}
	}
}

// BenchmarkSnapshot parses 10,000 jobs on 5,000 nodes, half of them running.
func BenchmarkSnapshot(b *testing.B) {
	var nodes, queue strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&nodes, "NodeName=n%04d CPUAlloc=64 CPUEfctv=64 CPUTot=64 RealMemory=256000 AllocMem=256000 FreeMem=1000 State=ALLOCATED Partitions=main OS=Linux 5.14.0 #1 SMP Reason=none [root@1]\n", i)
	}
	for i := range 10000 {
		state, where := "RUNNING", fmt.Sprintf("n[%04d-%04d]", i%5000/2*2, i%5000/2*2+1)
		if i%2 == 1 {
			state, where = "PENDING", ""
		}
		queue.WriteString(strings.ReplaceAll(fmt.Sprintf("%d|ann|main|%s|2|128|cpu=128,mem=512000M,node=2,billing=128|OK|1-00:00:00|1795232907|1795326507|%d|%s|(null)|(null)|main|normal|N/A|N/A|Priority|\n",
			i+1, state, 100000-i, where), "|", separator))
	}
	partitions := "PartitionName=main Default=YES MaxTime=UNLIMITED MaxNodes=UNLIMITED Nodes=n[0000-4999] State=UP PriorityTier=1\n"
	for b.Loop() {
		rows, err := parseTable(queue.String(), len(queueFields))
		if err != nil {
			b.Fatal(err)
		}
		s, err := texts{"SelectTypeParameters = CR_CORE_MEMORY\n", nodes.String(), partitions, "", rows, nil, ""}.snapshot("ann", false)
		if err != nil || len(s.Queue.Running) != 5000 || len(s.Queue.Pending) != 5000 {
			b.Fatalf("%v", err)
		}
	}
}
