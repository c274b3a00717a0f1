package memory

import (
	"fmt"
	"strings"
	"testing"
)

// trace returns a trace of one application in which memory grows with the input, and the user asks for 8 GB.
func trace(tasks int) string {
	var b strings.Builder
	b.WriteString("task_id,process,rchar,rss,memory,realtime\n")
	for i := range tasks {
		size := (i*7919)%tasks + 1
		fmt.Fprintf(&b, "%d,fit,%d,%d,8000000000,60000\n", i, size*1_000_000, 200_000_000+size*20_000_000)
	}
	b.WriteString("x,fit,-,-,8000000000,60000\nx,rare,1,1,1,1\n")
	return b.String()
}

// TestCompare: where memory follows the input, methods that look at it waste least, and all of them less than the user.
func TestCompare(t *testing.T) {
	apps, err := parse(strings.NewReader(trace(60)))
	if err != nil || len(apps) != 1 || len(apps[0]) != 60 {
		t.Fatalf("%d applications, %v", len(apps), err)
	}
	r := Compare([]Trace{{"t", apps}}, 2, 1)
	waste := make(map[string]Row)
	for _, row := range r.Rows {
		waste[row.Method] = row
	}
	if len(waste) != len(Methods) || waste["user"].FailedTries != 0 {
		t.Fatalf("%+v", r)
	}
	for _, m := range []string{"p95", "tovar", "witt-std", "sizey", "berth"} {
		if waste[m].WasteGBh >= waste["user"].WasteGBh {
			t.Errorf("%s wastes %+v, the user %+v", m, waste[m], waste["user"])
		}
	}
	if b, p := waste["berth"], waste["p95"]; b.WasteGBh > p.WasteGBh/4 || b.FailedTries > p.FailedTries {
		t.Errorf("berth wastes %+v, the 95th percentile %+v", b, p)
	}
}

// TestParse: a file that is no trace is told.
func TestParse(t *testing.T) {
	if _, err := parse(strings.NewReader("a,b\n1,2\n")); err == nil || !strings.Contains(err.Error(), `no column "process"`) {
		t.Errorf("%v", err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "trace_NAME.csv") {
		t.Errorf("%v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(trace(3))
	f.Fuzz(func(t *testing.T, text string) {
		apps, err := parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, app := range apps {
			if len(app) < fewest {
				t.Fatalf("an application of %d tasks", len(app))
			}
		}
	})
}
