package loads

import (
	"math"
	"reflect"
	"testing"
	"time"

	"berth/internal/core/job"
)

// TestPhasedJobs checks that the same seed gives the same jobs, that splits add up to the input and
// parts to the map outputs, that each split has its homes, and that no phase uses more than one core
// or more than a whole node at full speed.
func TestPhasedJobs(t *testing.T) {
	b := PhasedBatch{Jobs: 40, Nodes: 10}
	jobs := PhasedJobs(b, 7)
	if !reflect.DeepEqual(jobs, PhasedJobs(b, 7)) || reflect.DeepEqual(jobs, PhasedJobs(b, 8)) {
		t.Fatal("jobs are not a function of the seed")
	}
	for _, j := range jobs {
		f := j.Phased
		bytes, parts := 0.0, 0.0
		for i, s := range f.Splits {
			bytes += s
			if len(f.Homes[i]) != replicas {
				t.Fatalf("job %d: split %d has the homes %v", j.ID, i, f.Homes[i])
			}
		}
		for _, r := range f.Reduces {
			parts += r[0].Net
		}
		if bytes < leastInput || bytes > mostInput || parts > 1.2*bytes || len(j.Maps) != len(f.Maps) || len(j.Reduces) != len(f.Reduces) {
			t.Errorf("job %d: %g bytes in %d maps, %g in %d reduces", j.ID, bytes, len(f.Maps), parts, len(f.Reduces))
		}
		if len(f.Demands) != 5 {
			t.Errorf("job %d: demands %+v", j.ID, f.Demands)
		}
		for _, d := range f.Demands {
			if d.Demand.CPU > 1000 || d.Demand.Disk > FullDisk || d.Demand.Net > FullNet || d.Demand.Memory <= 0 || d.Seconds < 0 {
				t.Errorf("job %d, %s: %+v", j.ID, d.Phase, d)
			}
		}
	}
}

// TestKinds checks, as the paper says, that sort and MonsterQuery use most I/O of the jobs that
// shuffle, and that Combiner and self-join use most CPU.
func TestKinds(t *testing.T) {
	ratio := map[string]float64{} // seconds of disk per core-second, for a job of 2 GB
	for _, p := range profiles {
		var cpu, disk float64
		j := PhasedJobs(PhasedBatch{Jobs: 1, Nodes: 10, Apps: []string{p.name}, Bytes: 2 * gb}, 1)[0]
		for _, m := range j.Phased.Maps {
			cpu, disk = cpu+m[0].CPU+m[1].CPU, disk+m[0].Disk+m[1].Disk
		}
		for _, r := range j.Phased.Reduces {
			cpu, disk = cpu+r[0].CPU+r[1].CPU+r[2].CPU, disk+r[0].Disk+r[1].Disk+r[2].Disk
		}
		ratio[p.name] = disk / FullDisk / cpu
	}
	for _, io := range []string{SortApp, MonsterQueryApp} {
		for _, cpu := range []string{CombinerApp, SelfJoinApp, InvertedIndexApp} {
			if ratio[io] < 1.5*ratio[cpu] {
				t.Errorf("%s: %.2f, %s: %.2f", io, ratio[io], cpu, ratio[cpu])
			}
		}
	}
}

// TestAmounts compares a map and a reduce of a sort with figures computed by hand.
func TestAmounts(t *testing.T) {
	p := profiles[0]
	m, r := p.mapAmounts(128*mb), p.reduceAmounts(512*mb)
	for _, tt := range []struct {
		what      string
		got, want float64
	}{
		{"map, core-seconds", m[0].CPU, 1 + 128*0.06}, {"map, bytes", m[0].Disk, 256 * mb}, {"merge, bytes", m[1].Disk, 192 * mb},
		{"shuffle, bytes", r[0].Disk, 256 * mb}, {"shuffle, network", r[0].Net, 512 * mb}, {"sort, bytes", r[1].Disk, 256 * mb},
		{"reduce, bytes", r[2].Disk, 768 * mb}, {"sort, seconds", r[1].Full(), 5.12}, {"map on a core twice as fast, seconds", m[0].Seconds(2, FullDisk, FullNet), 4.34},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9*tt.want {
			t.Errorf("%s: %g instead of %g", tt.what, tt.got, tt.want)
		}
	}
	if small := p.mapAmounts(64 * mb); small[1] != (Amounts{Memory: p.mergeMemory}) || lasting(small[1:]) != time.Millisecond {
		t.Errorf("what fits the sort buffer is merged: %+v", small)
	}
}

// TestGranted checks that a grant at least as large as a map's output leaves nothing to merge, that
// a smaller one does, that a sort works on what does not fit, that memory is the used part of the
// grant, and that nothing changes without a grant.
func TestGranted(t *testing.T) {
	f := PhasedJobs(PhasedBatch{Jobs: 1, Nodes: 3, Apps: []string{SortApp}, Bytes: gb}, 1)[0].Phased
	m, r, sort := f.Maps[0], f.Reduces[0], len(f.Maps)
	part := r[0].Net
	for _, tt := range []struct {
		name           string
		task           int
		phase          job.Phase
		of             Amounts
		grant, earlier int64
		want           Amounts
	}{
		{"no grant", 0, job.PhaseMerge, m[1], 0, 0, m[1]},
		{"one spill", 0, job.PhaseMerge, m[1], 1, 128 * mb, Amounts{Memory: m[1].Memory}},
		{"two spills", 0, job.PhaseMerge, Amounts{}, 1, 127 * mb, m[1]},
		{"map", 0, job.PhaseMap, m[0], gb, 0, Amounts{CPU: m[0].CPU, Disk: m[0].Disk, Memory: m[0].Memory - 100*mb + 128*mb}},
		{"sort in memory", sort, job.PhaseSort, r[1], gb, 0, Amounts{Memory: r[1].Memory - 256*mb + int64(part)}},
		{"half of it", sort, job.PhaseSort, r[1], int64(part / 2), 0, Amounts{CPU: r[1].CPU / 2, Disk: r[1].Disk / 2, Memory: r[1].Memory - 256*mb + int64(part/2)}},
		{"reduce", sort, job.PhaseReduce, r[2], gb, 0, r[2]},
	} {
		got := f.Granted(tt.task, tt.phase, tt.of, tt.grant, tt.earlier)
		if math.Abs(got.CPU-tt.want.CPU) > 1e-6 || math.Abs(got.Disk-tt.want.Disk) > 2 || got.Memory-tt.want.Memory > 1 || tt.want.Memory-got.Memory > 1 {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
