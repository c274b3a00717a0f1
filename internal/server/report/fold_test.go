package report_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/report"
	"berth/test/support/reporttest"
)

// TestFold plays histories and compares what the views say. Commands: job (a new
// one, with its plan), play (records), view [keys…], unattended [keys…], tasks (once), rows.
func TestFold(t *testing.T) {
	datadriven.Walk(t, "testdata/fold", func(t *testing.T, path string) {
		var s *reporttest.Script
		var rows []report.AttemptRow
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "job":
				info := report.Info{ID: "j-1", OnAttempt: func(r report.AttemptRow) { rows = append(rows, r) }, Tries: new(report.Tries)}
				if d.HasArg("low") {
					info.Predicted = &report.Prediction{Source: "profile of 3 jobs"}
					info.Predicted.LowSeconds = arg(t, d, "low")
					info.Predicted.UpSeconds = arg(t, d, "up")
				}
				if d.HasArg("wait") {
					info.Expected = &plan.Expectation{Wait: arg(t, d, "wait"), Turnaround: arg(t, d, "turnaround")}
				}
				s = reporttest.New(info)
			case "play":
				if err := s.Play(d.Input); err != nil {
					return err.Error() + "\n"
				}
			case "view":
				for _, running := range []bool{false, true} {
					if got, want := s.Job.Brief(s.Now, running), s.Job.View(s.Now).Brief(running); !reflect.DeepEqual(got, want) {
						t.Errorf("lists have %+v, want what is in the view: %+v", got, want)
					}
				}
				return keys(t, d, s.Job.View(s.Now))
			case "unattended":
				return keys(t, d, s.Job.Unattended())
			case "tasks":
				none := func(int) (need job.Resources, ok bool) { return need, false }
				return lines(t, slices.Collect(s.Job.Tasks(nil, none)))
			case "rows":
				return lines(t, rows)
			default:
				t.Fatalf("unknown command %q", d.Cmd)
			}
			return ""
		})
	})
}

func arg(t *testing.T, d *datadriven.TestData, key string) float64 {
	var n int
	d.ScanArgs(t, key, &n)
	return float64(n)
}

// keys prints the keys asked for, one a line; elements of lists stand below their key.
func keys(t *testing.T, d *datadriven.TestData, v report.JobView) string {
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, a := range d.CmdArgs {
		value, ok := all[a.Key]
		if !ok {
			fmt.Fprintf(&b, "%s: absent\n", a.Key)
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil || len(list) == 0 {
			fmt.Fprintf(&b, "%s: %s\n", a.Key, value)
			continue
		}
		fmt.Fprintf(&b, "%s:\n%s", a.Key, lines(t, list))
	}
	return b.String()
}

func lines[T any](t *testing.T, list []T) string {
	var b strings.Builder
	for _, x := range list {
		raw, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "  %s\n", raw)
	}
	return b.String()
}
