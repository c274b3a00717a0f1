package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"pgregory.net/rapid"

	"berth/internal/core/event"
	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/predict"
	"berth/internal/server/report"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 漢":   "plain ü 漢",
		"a\tb":        "a    b",
		"\x1b[31mred": "^[[31mred",
		"a\x00\x7fb":  "a^@^?b",
		"a\xffb":      "a\ufffdb",
		"a\u202eb":    `a\u202eb`,
		"a\u0085b":    `a\u0085b`,
		"over\rwrite": "over^Mwrite",
	} {
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestCleanIsSafe: nothing but printable characters is left of any bytes.
func TestCleanIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		got := clean(s)
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsPrint(r) && r != utf8.RuneError }); i >= 0 {
			t.Fatalf("clean(%q) = %q", s, got)
		}
	})
}

// TestFrameFits: no line is wider than the terminal, whatever the job and the width.
func TestFrameFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := report.JobView{Status: report.Status{ID: "mr-1", State: rapid.SampledFrom([]event.State{"queued", "running", "stopping", "done"}).Draw(t, "state")}}
		v.Reason = rapid.StringN(0, 50, -1).Draw(t, "reason")
		v.ElapsedS = rapid.Float64Range(0, 1e7).Draw(t, "elapsed")
		if rapid.Bool().Draw(t, "waits") {
			v.At = time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "at"), 0)
			start := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "start"), 0)
			v.Waits = &report.Waits{Nodes: rapid.IntRange(1, 1e6).Draw(t, "nodes"), Since: v.At, Start: start, Note: rapid.String().Draw(t, "note")}
			v.Allocs = []report.AllocView{{State: report.AllocRunning, Nodes: 3, Up: 2, Ends: start}, {State: report.AllocRunning, Nodes: 1}}
		}
		maps := rapid.IntRange(0, 1_000_000).Draw(t, "maps")
		reduces := rapid.IntRange(0, 1_000_000).Draw(t, "reduces")
		for _, name := range []string{"map", "merge", "shuffle", "sort", "reduce"} {
			total := maps
			if name != "map" && name != "merge" {
				total = reduces
			}
			done := rapid.IntRange(0, total).Draw(t, "done")
			failed := rapid.IntRange(0, total-done).Draw(t, "failed")
			eta := rapid.Float64Range(0, 1e7).Draw(t, "eta")
			v.Phases = append(v.Phases, report.PhaseView{
				Phase: name, Total: total, Done: done, Failed: failed, Running: total - done - failed, EtaS: &eta,
				Progress: rapid.Float64Range(0, 1).Draw(t, "progress"), Rate: rapid.Float64Range(0, 1e12).Draw(t, "rate"),
			})
		}
		width := rapid.IntRange(1, 200).Draw(t, "width")
		for _, l := range frame(v, width, false) {
			if columns(l) > max(width-1, 0) || strings.ContainsAny(l, "\n\r\x1b") {
				t.Fatalf("width %d: %q is %d wide", width, l, columns(l))
			}
		}
	})
}

func TestRatesAndTimes(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{tasksRate(0), ""}, {tasksRate(1234.4), "1234/s"}, {tasksRate(1.25), "1.2/s"}, {tasksRate(0.1), "6.0/min"},
		{bytesRate(0.2), ""}, {bytesRate(3 << 20), "3M/s"},
		{eta(0.2), "ETA 1s"}, {eta(59.2), "ETA 1m"}, {eta(7239), "ETA 2h1m"}, {eta(0), "ETA 0s"},
		{span(1, 2), "1s–2s"}, {span(1.01, 1.02), "1s"}, {job.Count(1, "task"), "1 task"}, {job.Count(0, "task"), "0 tasks"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, at := range map[string]time.Time{
		"00:00":       now.Add(-12 * time.Hour),
		"Mon 01:30":   now.Add(13*time.Hour + 30*time.Minute),
		"Sat 23:59":   now.Add(-12*time.Hour - time.Minute),
		"8 Mar 12:00": now.AddDate(0, 0, 7),
		"1 Mar 2027":  now.AddDate(1, 0, 0),
	} {
		if got := clock(at, now); got != want {
			t.Errorf("%v: got %q, want %q", at, got, want)
		}
	}
}

func TestJSONAndErrors(t *testing.T) {
	var b strings.Builder
	if err := JSON(&b, map[string]string{"a": "<b> & c"}); err != nil || b.String() != `{"a":"<b> & c"}`+"\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	b.Reset()
	Error(&b, &job.Error{Where: "job.toml:3", What: "bad\nkey \x1b[0m", Err: errors.New("cause"), Do: "mend it"}, false)
	if want := "berth: job.toml:3: bad; key ^[[0m: cause; mend it\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}

// TestGatheredErrors: errors that were found together have a line each, also behind an exit code.
func TestGatheredErrors(t *testing.T) {
	one, two, three := errors.New("one"), errors.New("two\nmore"), errors.New("three")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.Join(one, errors.Join(two, three)), "berth: one\nberth: two; more\nberth: three\n"},
		{silent{errors.Join(one, three)}, "berth: one\nberth: three\n"},
		{fmt.Errorf("both %w and %w", one, three), "berth: both one and three\n"},
		{fmt.Errorf("file: %w", errors.Join(one, three)), "berth: file: one; three\n"},
	} {
		var b strings.Builder
		if Error(&b, tt.err, false); b.String() != tt.want {
			t.Errorf("got %q, want %q", b.String(), tt.want)
		}
	}
}

// silent wraps an error without adding text.
type silent struct{ error }

func (s silent) Unwrap() error { return s.error }

func TestPlanText(t *testing.T) {
	p := plan.Plan{
		Kind: job.MapReduce, Tasks: 40, Reduces: 2, InputBytes: 150 << 20, TaskSlots: 4, ReduceSlots: 2, Source: "3 runs",
		Alloc: job.AllocRequest{On: "local", Nodes: 2, PerNode: job.Resources{CPUs: 2, Mem: 4 << 30}, SortMemory: 1 << 30, Time: 3600e9},
		Predicted: &plan.Prediction{
			Interval: predict.Interval{Low: 10, Up: 14}, Median: 11, P95: 13.5,
			Stages: []plan.Stage{{Name: "map", Interval: predict.Interval{Low: 8, Up: 9}}, {Name: "reduce", Interval: predict.Interval{Low: 2, Up: 5}}},
		},
		Reasons: []string{"2 nodes of 2 cores: all there is", "2 reduces: one for each slot"}, Notes: []string{"careful"},
	}
	want := `2 nodes of 2 cores: all there is
2 reduces: one for each slot

on         local: 2 nodes of 2 cores and 4G, 1G of it for sorting
tasks      40 maps and 2 reduces over 150M of input
at once    4 maps, 2 reduces
time limit 1h
run        predicted 10s–14s from the first task to the end, 11s for half of such runs
from       3 runs
note       careful

STAGE   LOW  UP
map      8s  9s
reduce   2s  5s
`
	comparePlan(t, p, want)
	p = plan.Plan{
		Kind: job.Bag, Tasks: 1, TaskSlots: 1, Source: "no profile yet", Reasons: []string{"here"},
		Alloc: job.AllocRequest{On: "local", Nodes: 1, PerNode: job.Resources{CPUs: 1}},
	}
	comparePlan(t, p, `here

on         local: 1 node of 1 core
tasks      1 task
at once    1 task
run        no prediction: no profile yet
`)
}

func comparePlan(t *testing.T, p plan.Plan, want string) {
	t.Helper()
	var b strings.Builder
	if err := Plan(&b, p, Style{Width: 80}); err != nil || b.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
	}
}

func TestExplainAndNoJobs(t *testing.T) {
	var b strings.Builder
	if err := Lines(&b, []string{"waits for\x07 a1", "then runs"}); err != nil || b.String() != "waits for^G a1\nthen runs\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
	b.Reset()
	if err := Status(&b, nil, 0); err != nil || b.String() != "no jobs\n" {
		t.Errorf("got %q, %v", b.String(), err)
	}
}

// TestJoules: energies have three digits and a unit.
func TestJoules(t *testing.T) {
	for j, want := range map[float64]string{0: "0 J", 850.4: "850 J", 999.6: "1 kJ", 12345: "12.3 kJ", 1.2e6: "1.2 MJ", 3.6e9: "3.6 GJ"} {
		if got := joules(j); got != want {
			t.Errorf("%g J is %q, want %q", j, got, want)
		}
	}
}

// TestColumns: texts that need no search are as wide as runewidth finds them.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := strings.ReplaceAll(rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`)).Draw(t, "text"), "\x1b", "")
		if got, want := columns(s), runewidth.StringWidth(s); got != want {
			t.Fatalf("%q takes %d columns, not %d", s, got, want)
		}
	})
}
