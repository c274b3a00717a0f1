package ui

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"berth/internal/core/job"
	"berth/internal/core/plan"
	"berth/internal/server/report"
	"berth/test/support/reporttest"
)

// TestMain lets local times be the same everywhere.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// scene is a history and what shows it.
type scene struct {
	play *reporttest.Script
	rows []report.AttemptRow
	out  bytes.Buffer
	con  Console
}

// TestUI renders histories. Commands:
//
//	job [decision=…] [low= up=] [output=…] [logs=…] [note=…]   a new job
//	play                     records
//	frame width=N [color]    the bars
//	console [color]          a plain log
//	begin, update, end       what the console writes
//	status, progress, report, rows, summary
func TestUI(t *testing.T) {
	datadriven.Walk(t, "testdata/ui", func(t *testing.T, path string) {
		var s scene
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.out.Reset()
			s.run(t, d)
			return strings.ReplaceAll(s.out.String(), "\x1b", "␛")
		})
	})
}

func (s *scene) run(t *testing.T, d *datadriven.TestData) {
	var err error
	switch d.Cmd {
	case "job":
		s.newJob(d)
	case "play":
		if err := s.play.Play(d.Input); err != nil {
			s.out.WriteString(err.Error() + "\n")
		}
	case "frame":
		width := 0
		d.ScanArgs(t, "width", &width)
		s.out.WriteString(join(frame(s.view(), width, color(d.HasArg("color")))))
	case "console":
		s.con = New(Options{Out: &s.out, Mode: Plain, Color: d.HasArg("color")})
	case "begin":
		s.con.Begin(s.view())
	case "update":
		s.con.Update(s.view())
	case "end":
		s.con.End(s.view())
	case "status":
		err = Status(&s.out, []report.JobView{s.view()}, 0)
	case "progress":
		err = Progress(&s.out, s.view(), 100)
	case "report":
		err = Report(&s.out, s.view())
	case "rows":
		err = Rows(&s.out, s.rows)
	case "summary":
		v := s.view()
		if d.HasArg("unattended") {
			v = s.play.Job.Unattended()
		}
		s.out.WriteString(join(Summary(v)))
	default:
		d.Fatalf(t, "unknown command %q", d.Cmd)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (s *scene) view() report.JobView { return s.play.Job.View(s.play.Now) }

func (s *scene) newJob(d *datadriven.TestData) {
	info := report.Info{ID: "bag-3", OnAttempt: func(r report.AttemptRow) { s.rows = append(s.rows, r) }}
	text := func(key string) string {
		for _, a := range d.CmdArgs {
			if a.Key == key {
				return strings.ReplaceAll(a.Vals[0], "_", " ")
			}
		}
		return ""
	}
	if id := text("id"); id != "" {
		info.ID = job.ID(id)
	}
	info.Decision, info.Output, info.Logs = text("decision"), text("output"), text("logs")
	if n := text("note"); n != "" {
		info.Notes = []string{n}
	}
	if inputs := strings.Split(text("inputs"), ";"); len(inputs) > 1 {
		info.TaskInput = func(task int) string { return inputs[task%len(inputs)] }
	}
	if wait, err := time.ParseDuration(text("wait")); err == nil {
		all, _ := time.ParseDuration(text("turnaround"))
		info.Expected = &plan.Expectation{Wait: wait.Seconds(), Turnaround: all.Seconds()}
	}
	if low, err := time.ParseDuration(text("low")); err == nil {
		up, _ := time.ParseDuration(text("up"))
		info.Predicted = &report.Prediction{LowSeconds: low.Seconds(), UpSeconds: up.Seconds(), Source: "3 runs of this application"}
	}
	if info.Logs != "" {
		info.Stderr = func(task int) (file, command string) { return info.Logs + "/" + string(rune('1'+task)) + ".stderr", "" }
	}
	s.play, s.rows = reporttest.New(info), nil
}
