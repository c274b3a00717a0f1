package evaluate

import (
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/workload"
)

// logOf returns a log of jobs of 64 nodes. Each argument has the submission time and the run time in
// hours. The log does not begin at time 0.
func logOf(hours ...[2]int) []workload.Rigid {
	var log []workload.Rigid
	for i, h := range hours {
		run := time.Duration(h[1]) * time.Hour
		log = append(log, workload.Rigid{ID: int64(i + 1), Submit: job.Time(7*time.Second + time.Duration(h[0])*time.Hour), Nodes: 64, Run: run, Request: run})
	}
	return log
}

func TestDay(t *testing.T) {
	log := logOf([2]int{0, 1}, [2]int{23, 1}, [2]int{24, 1}, [2]int{24, 2}, [2]int{100, 1})
	for day, want := range map[int][]int64{1: {1, 2}, 2: {3, 4}, 3: nil, 5: {5}, 6: nil} {
		jobs := Day(log, day)
		if len(jobs) != len(want) {
			t.Errorf("day %d has %d jobs", day, len(jobs))
			continue
		}
		for i, j := range jobs {
			if j.ID != want[i] || j.Submit < 0 || j.Submit >= job.Time(dayLong) {
				t.Errorf("day %d: %+v", day, j)
			}
		}
	}
	if Day(nil, 1) != nil {
		t.Error("an empty log has a day")
	}
	if log[3].Submit != job.Time(24*time.Hour+7*time.Second) {
		t.Error("the log itself was changed")
	}
}

// TestNearestDay: half of the nodes for 4.5 hours give 50 % and 16,200 s, which is close to the
// paper's figures.
func TestNearestDay(t *testing.T) {
	log := logOf([2]int{0, 9}, [2]int{0, 9}, [2]int{30, 4}, [2]int{80, 1})
	log[2].Run += 30 * time.Minute
	log[2].Request = log[2].Run
	if day := NearestDay(128, batch.CBF, log); day != 2 {
		t.Errorf("day %d", day)
	}
	if day := NearestDay(128, batch.CBF, nil); day != 1 {
		t.Errorf("of an empty log day %d", day)
	}
}
