package loads

import (
	"strings"
	"testing"

	"berth/internal/core/job"
)

const measured = `{"name": "mine", "nodes": 3, "node": {"cpus": 4, "mem_bytes": 8000000000, "disk_bps": 100000000, "net_bps": 125000000},
	"jobs": [{"name": "sort", "submit_s": 1.5, "maps": 16, "reduces": 6, "phases": [
		{"phase": "map", "cpu_s": 6, "disk_bytes": 1e8, "net_bytes": 0, "mem_bytes": 300000000, "seconds": 4}]},
	{"name": "next", "submit_s": 2, "after": 1, "maps": 1, "reduces": 1, "phases": []}]}`

func TestMeasured(t *testing.T) {
	m, err := ParseMeasured("jobs.json", []byte(measured))
	if err != nil {
		t.Fatal(err)
	}
	jobs := m.Elastic()
	first, next := jobs[0], jobs[1]
	if len(first.Maps) != 16 || len(first.Reduces) != 6 || first.Submit.Sub(0).Seconds() != 1.5 || next.After != first.ID {
		t.Errorf("%+v", jobs)
	}
	if d := first.Phased.Demands[0]; d.Demand.CPU != 1500 || d.Seconds != 4 || d.Demand.Disk != 25e6 || d.Demand.Memory != 3e8 {
		t.Errorf("a map takes %+v", d)
	}
	if a := first.Phased.Maps[0][0]; a.Seconds(1, 1e7, FullNet) != 10 || a.Seconds(0.5, FullDisk, FullNet) != 8 || a.Seconds(9, FullDisk, FullNet) != 4 {
		t.Errorf("a map lasts %v, %v, %v", a.Seconds(1, 1e7, FullNet), a.Seconds(0.5, FullDisk, FullNet), a.Seconds(9, FullDisk, FullNet))
	}
}

func TestMeasuredIsChecked(t *testing.T) {
	for old, changed := range map[string]string{
		`"nodes": 3`: `"nodes": 0`, `"disk_bps": 100000000`: `"disk_bps": 0`, `"maps": 16`: `"maps": 0`, `"after": 1`: `"after": 2`,
		`"submit_s": 2`: `"submit_s": 1`, `"phase": "map"`: `"phase": "compute"`, `"cpu_s": 6`: `"cpu_s": -6`, `"seconds"`: `"minutes"`,
	} {
		_, err := ParseMeasured("jobs.json", []byte(strings.Replace(measured, old, changed, 1)))
		if job.CodeOf(err) != job.CodeConfig || !strings.Contains(err.Error(), "jobs.json") {
			t.Errorf("%s: error %v", changed, err)
		}
	}
}
