package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/driver/batch"
)

// TestVerdict checks the reason why a job ended, from Slurm's state and from the job's output. If neither gives a reason,
// the verdict is that the script ended well.
func TestVerdict(t *testing.T) {
	silent := watched{state: "COMPLETING", reason: "None"}
	for _, c := range []struct {
		name, text string
		is         watched
		says       string // empty: the script ended by itself
		failed     bool
	}{
		{name: "no reason is known", is: silent},
		{name: "another message of Slurm", is: silent, text: "srun: Job step aborted\n"},
		{name: "the node's message", is: silent, text: "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-01T00:00:00 ***\n", says: "it was cancelled, and not by berth"},
		{name: "its script failed", is: watched{state: "COMPLETING", exit: 1}, failed: true},
		{name: "its script was killed", is: watched{state: "COMPLETING", signal: 15}, failed: true},
		{name: "its time is over", is: watched{state: "COMPLETING", reason: "TimeLimit"}, says: "its wall time of 0s has passed"},
		{name: "it was cancelled", is: watched{state: "CANCELLED"}, says: "it was cancelled, and not by berth"},
		{name: "somebody cancelled it", is: watched{state: "CANCELLED by 1000"}, says: "it was cancelled by user 1000"},
	} {
		j := batch.Job{ID: "7", Output: filepath.Join(t.TempDir(), "slurm.log")}
		if err := os.WriteFile(j.Output, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v := verdict(j, c.is); v.Reason != c.says || v.Script != (c.says == "") || v.Failed != c.failed {
			t.Errorf("%s: %+v", c.name, v)
		}
	}
	if v := verdict(batch.Job{Output: filepath.Join(t.TempDir(), "none")}, watched{}); v != (batch.Verdict{}) {
		t.Errorf("of an unknown job: %+v", v)
	}
}

// TestWaits checks what a wake-up job waits for, and which of the user's options it is submitted with.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		wait        batch.Wait
		begin, args string
	}{
		{batch.Wait{}, "now", "[]"},
		{batch.Wait{Delay: 600e9}, "now+600", "[--begin=now+600]"},
		{batch.Wait{After: []string{"1", "2"}}, "now", "[--dependency=afterany:1:2]"},
	} {
		if got := fmt.Sprint(waitArgs(c.wait)); got != c.args || begin(c.wait) != c.begin {
			t.Errorf("%+v: %s, %s", c.wait, got, begin(c.wait))
		}
	}
	if got := batch.Where([]string{"--gres=gpu:4", "--reservation=r"}, Open(nil).Words().Where); fmt.Sprint(got) != "[--reservation=r]" {
		t.Errorf("%q", got)
	}
}
