package ui

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cockroachdb/datadriven"
	"pgregory.net/rapid"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/core/timeline"
	"berth/test/support/reporttest"
)

// TestOutlook renders queues as plans see them. Commands:
//
//	queue nodes=N          lines: "free TIME N"; "slot START NODES FOR TAKE×CORES TIME RUN RISK [chosen] WHY…", with
//	                       "-" for no end, no limit and no prediction. Times count from now.
//	show [width=N] [color] [ascii]
//	plan [history]         all of a plan with that queue; with a start that is predicted by the history of the queue
func TestOutlook(t *testing.T) {
	datadriven.Walk(t, "testdata/outlook", func(t *testing.T, path string) {
		var o plan.Outlook
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "queue":
				o = readQueue(t, d)
				return ""
			case "show":
				style := Style{Width: 80, Color: d.HasArg("color"), ASCII: d.HasArg("ascii")}
				d.MaybeScanArgs(t, "width", &style.Width)
				return strings.ReplaceAll(join(outlook(reporttest.Epoch, o, style)), "\x1b", "␛")
			case "plan":
				var b strings.Builder
				p := planWith(o)
				if d.HasArg("history") {
					p.Start = &plan.Start{Median: 75, Low: 0, High: 640, Draws: 50, Jobs: 1234}
				}
				if err := Plan(&b, p, Style{Width: 80, ASCII: true}); err != nil {
					t.Fatal(err)
				}
				return b.String()
			}
			d.Fatalf(t, "unknown command %q", d.Cmd)
			return ""
		})
	})
}

func planWith(o plan.Outlook) plan.Plan {
	request := func(nodes int, start time.Duration) job.AllocRequest {
		return job.AllocRequest{On: "slurm", Elastic: true, Nodes: nodes, Start: reporttest.Epoch.Add(start), PerNode: job.Resources{CPUs: 4, Mem: 8 << 30},
			Time: 10 * time.Minute, Batch: job.Batch{Partition: "batch"}}
	}
	o.Wait, o.Start, o.Turnaround = 90, 90, 600
	return plan.Plan{
		At: reporttest.Epoch, Kind: job.Bag, Tasks: 40, TaskSlots: 8, Source: "no profile of this application yet",
		Alloc: request(2, 0), Followup: job.Followup{More: []job.AllocRequest{request(3, 90*time.Second), request(1, 5*time.Minute)}, Scout: 8}, Outlook: &o, Reasons: []string{"2 nodes at once, 3 more soon"},
	}
}

func readQueue(t *testing.T, d *datadriven.TestData) plan.Outlook {
	t.Helper()
	o := plan.Outlook{Partition: "batch", Timeline: []timeline.Step{}, Slots: []plan.Candidate{}}
	d.ScanArgs(t, "nodes", &o.Nodes)
	for line := range strings.Lines(d.Input) {
		f := strings.Fields(line)
		switch f[0] {
		case "free":
			o.Timeline = append(o.Timeline, timeline.Step{Start: reporttest.Epoch.Add(duration(t, f[1], 0)), Free: number(t, f[2])})
		case "slot":
			o.Slots = append(o.Slots, readSlot(t, f[1:]))
		default:
			d.Fatalf(t, "unknown line %q", line)
		}
	}
	return o
}

func readSlot(t *testing.T, f []string) plan.Candidate {
	t.Helper()
	start := duration(t, f[0], 0)
	take, cores, _ := strings.Cut(f[3], "x")
	c := plan.Candidate{
		Slot: timeline.Slot{Start: reporttest.Epoch.Add(start), Nodes: number(t, f[1]), Duration: duration(t, f[2], timeline.Unbounded)},
		Take: number(t, take), PerNode: job.Resources{CPUs: number(t, cores)}, Time: duration(t, f[4], 0),
		Wait: start.Seconds(), Run: duration(t, f[5], 0).Seconds(),
	}
	if c.Run > 0 {
		c.Total = c.Wait + c.Run
	}
	c.Risk = float64(number(t, strings.TrimSuffix(f[6], "%"))) / 100
	rest := f[7:]
	if len(rest) > 0 && rest[0] == "chosen" {
		c.Chosen, rest = true, rest[1:]
	}
	c.Why = strings.Join(rest, " ")
	return c
}

func duration(t *testing.T, text string, none time.Duration) time.Duration {
	t.Helper()
	if text == "-" {
		return none
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOutlookFits: whatever the queue, no line is wider than the terminal, nothing but
// printable characters is written, and each slot that was chosen is in the table.
func TestOutlookFits(t *testing.T) {
	seconds := rapid.OneOf(rapid.Float64Range(0, 1e6), rapid.SampledFrom([]float64{0, 1e-9, 1e12, math.Inf(1), math.NaN(), math.MaxFloat64}))
	lasting := rapid.OneOf(rapid.Int64Range(0, 1e15), rapid.SampledFrom([]int64{0, int64(timeline.Unbounded), math.MaxInt64 - 1}))
	instant := rapid.OneOf(rapid.Int64Range(0, 4e18), rapid.SampledFrom([]int64{0, int64(timeline.Never)}))
	rapid.Check(t, func(t *rapid.T) {
		at := job.Time(rapid.Int64Range(1, 4e18).Draw(t, "at"))
		o := plan.Outlook{Partition: rapid.String().Draw(t, "partition"), Nodes: rapid.IntRange(0, 20000).Draw(t, "nodes")}
		begin := at
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			o.Timeline = append(o.Timeline, timeline.Step{Start: begin, Free: rapid.IntRange(-3, 20003).Draw(t, "free")})
			begin += job.Time(rapid.Int64Range(0, 1e14).Draw(t, "step"))
		}
		for range rapid.IntRange(0, 40).Draw(t, "slots") {
			o.Slots = append(o.Slots, plan.Candidate{
				Slot: timeline.Slot{
					Start: job.Time(instant.Draw(t, "start")), Nodes: rapid.IntRange(0, 20000).Draw(t, "slot nodes"),
					Duration: time.Duration(lasting.Draw(t, "duration")),
				},
				Take: rapid.IntRange(0, 20000).Draw(t, "take"), PerNode: job.Resources{CPUs: rapid.IntRange(0, 512).Draw(t, "cpus")},
				Time: time.Duration(lasting.Draw(t, "time")), Wait: seconds.Draw(t, "wait"), Run: seconds.Draw(t, "run"), Total: seconds.Draw(t, "total"),
				Risk: rapid.Float64Range(0, 1).Draw(t, "risk"), Chosen: rapid.Bool().Draw(t, "chosen"), Why: rapid.String().Draw(t, "why"),
			})
		}
		style := Style{Width: rapid.IntRange(0, 250).Draw(t, "width"), ASCII: rapid.Bool().Draw(t, "ascii")}
		lines := outlook(at, o, style)
		for _, l := range lines {
			if columns(l) > style.Width || clean(l) != l || !utf8.ValidString(l) {
				t.Fatalf("width %d: %q is %d wide", style.Width, l, columns(l))
			}
		}
		if style.Width < 20 {
			return
		}
		text := strings.Join(lines, "\n")
		for i, name := range letters(o.Slots) {
			if !strings.Contains("\n"+text, "\n"+string(name)+" ") {
				t.Fatalf("slot %d is chosen, %c is not in the table:\n%s", i, name, text)
			}
		}
	})
}

// TestOutlookOfManySlots: the table keeps those that were chosen and the best.
func TestOutlookOfManySlots(t *testing.T) {
	var o plan.Outlook
	for i := range 40 {
		o.Slots = append(o.Slots, plan.Candidate{Slot: timeline.Slot{Nodes: 100 + i}, Total: float64(1 + (i+20)%40), Chosen: i == 7})
	}
	got := listed(o.Slots)
	if len(got) != maxSlots || got[0] != 7 || got[1] != 20 || got[maxSlots-1] != 33 {
		t.Errorf("got %v", got)
	}
	lines := slotLines(0, o, Style{Width: 80})
	if last := lines[len(lines)-1]; last != "and 25 slots more; all of them with --json" {
		t.Errorf("got %q", last)
	}
}

// TestColorsAddNothing: with colours the text is the same but for the colours.
func TestColorsAddNothing(t *testing.T) {
	o := plan.Outlook{Nodes: 4, Timeline: []timeline.Step{{Start: 1, Free: 2}, {Start: 1e11, Free: 4}}}
	o.Slots = []plan.Candidate{{Slot: timeline.Slot{Nodes: 2, Duration: timeline.Unbounded}, Take: 2, Run: 30, Total: 30, Chosen: true, Why: "soonest"}, {Why: "later"}}
	plain := join(outlook(1, o, Style{Width: 60}))
	colored := join(outlook(1, o, Style{Width: 60, Color: true}))
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m"} {
		if !strings.Contains(colored, code) {
			t.Errorf("no %q", code)
		}
		colored = strings.ReplaceAll(colored, code, "")
	}
	if colored != plain {
		t.Errorf("got\n%s\nwant\n%s", colored, plain)
	}
}

func TestLookOf(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	tty := func(env ...string) Style {
		return StyleOf(pty(t, 100, 24), func(name string) string {
			for _, kv := range append(env, "TERM=xterm") {
				if v, ok := strings.CutPrefix(kv, name+"="); ok {
					return v
				}
			}
			return ""
		})
	}
	none := func(string) string { return "" }
	for name, c := range map[string]struct{ got, want Style }{
		"a buffer":       {StyleOf(&strings.Builder{}, none), Style{Width: 80, ASCII: true}},
		"a file":         {StyleOf(file, none), Style{Width: 80, ASCII: true}},
		"no size":        {StyleOf(pty(t, 0, 0), none), Style{Width: 80, ASCII: true}},
		"UTF-8":          {tty("LANG=de_DE.UTF-8"), Style{Width: 100, Color: true}},
		"utf8":           {tty("LC_CTYPE=C.utf8", "LANG=C"), Style{Width: 100, Color: true}},
		"overruled":      {tty("LC_ALL=C", "LANG=de_DE.UTF-8"), Style{Width: 100, Color: true, ASCII: true}},
		"NO_COLOR":       {tty("NO_COLOR=1", "LANG=C.UTF-8"), Style{Width: 100}},
		"dumb":           {tty("TERM=dumb", "LANG=C.UTF-8"), Style{Width: 100}},
		"NO_COLOR empty": {tty("NO_COLOR=", "LANG=C.UTF-8"), Style{Width: 100, Color: true}},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, c.got, c.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for want, in := range map[string]string{
		"":                    " \n ",
		"one two|three":       "one  two three",
		"supercalif…|is long": "supercalifragilistic is long",
	} {
		if got := strings.Join(wrap(in, 11), "|"); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestRough(t *testing.T) {
	for in, want := range map[float64]string{
		-1: "0s", 0: "0s", 0.25: "250ms", 9.94: "9.9s", 59.6: "1m", 95.4: "1m35s", 3629: "1h", 90061: "1d1h", 1e15: "never",
	} {
		if got := rough(in); got != want {
			t.Errorf("%s: got %q, want %q", fmt.Sprint(in), got, want)
		}
	}
}

// TestPlanOfDifferentNeeds: each request says for which tasks it is, and the table of slots, which are those of one of them, has no others.
func TestPlanOfDifferentNeeds(t *testing.T) {
	at := job.Time(time.Hour)
	request := func(nodes int, partition string, has job.Resources) job.AllocRequest {
		return job.AllocRequest{On: "slurm", Nodes: nodes, PerNode: has, Time: time.Hour, Elastic: true, Start: at, Batch: job.Batch{Partition: partition, Among: "cpu,gpu"}}
	}
	p := plan.Plan{At: at, Kind: job.Bag, Tasks: 24, TaskSlots: 20, Reasons: []string{"decided"}, Source: "nothing",
		Alloc:    request(2, "gpu", job.Resources{CPUs: 8, Mem: 32 << 30, GPUs: 4}),
		Followup: job.Followup{More: []job.AllocRequest{request(3, "cpu", job.Resources{CPUs: 16, Mem: 64 << 30})}},
		Mix: []plan.Mixed{{Tasks: 20, Needs: job.Needs{CPUs: 1, Mem: 2 << 30}}, {Tasks: 2, Needs: job.Needs{CPUs: 2, GPUs: 1, Gang: job.Gang{Ranks: 3}}},
			{Tasks: 2, Needs: job.Needs{CPUs: 4, GPUs: 2, GPUType: "a100"}}},
		Serves: [][]int{{1, 2}, {0}},
		Outlook: &plan.Outlook{Partition: "gpu", Nodes: 2, Timeline: []timeline.Step{{Start: at, Free: 2}},
			Slots: []plan.Candidate{{Slot: timeline.Slot{Start: at, Nodes: 2, Duration: timeline.Unbounded}, Take: 2, Time: time.Hour, Chosen: true, Why: "it is good"}}},
	}
	var b strings.Builder
	if err := Plan(&b, p, Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"for tasks of 3 ranks of 2 cores, 1 GPU; 4 cores, 2 GPUs of type a100", "for tasks of 1 core and 2G"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(text, "requested as well") {
		t.Errorf("a request of another partition is among the slots:\n%s", b.String())
	}
}
