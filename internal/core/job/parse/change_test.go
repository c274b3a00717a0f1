package parse

import (
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestChange: settings of a job that runs have the names of flags or of keys, and what cannot change is refused with the way that is left.
func TestChange(t *testing.T) {
	options := append(OptionsOf("entry", "bag", "resume"), Options(queue)...)
	s := job.New(job.Bag, "/d")
	if err := Change(s, options, []string{"priority=-5", "--max-nodes=7", "time_limit=10m", "throttle=3", "mem=2G"}); err != nil {
		t.Fatal(err)
	}
	if s.Request.Priority != -5 || s.Request.MaxNodes != 7 || s.Bag.Throttle != 3 || s.Bag.TimeLimit.Minutes() != 10 || s.Bag.Need.Mem != 2<<30 {
		t.Errorf("the spec is %+v of %+v", s.Bag, s.Request)
	}
	for setting, want := range map[string]string{
		"priority": "priority=VALUE", "priority=x": "a whole number from -1000 to 1000", "priorty=5": "did you mean priority?",
		"partition=p": "berth resume JOB --partition", "joblog=f": "submit another job", "mem=auto": "resume it with --mem auto", "colour=red": "write one of retries",
	} {
		if err := Change(job.New(job.Bag, "/d"), options, []string{setting}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", setting, want, err)
		}
	}
	if err := Change(job.New(job.MapReduce, "/d"), options, []string{"throttle=5"}); err == nil || !strings.Contains(err.Error(), "MapReduce") {
		t.Errorf("throttle of a MapReduce job: %v", err)
	}
}
