package ui

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"berth/internal/server/report"
	"berth/test/support/reporttest"
)

// bars60 returns a console that draws bars on 60 columns.
func bars60(out io.Writer) *terminal {
	c := New(Options{Out: out, Mode: Terminal}).(*terminal)
	c.width = 60
	return c
}

// TestTerminal: whatever was drawn when, what is left on the screen in the end is
// the headline, what happened, the bars as they ended, and the summary.
func TestTerminal(t *testing.T) {
	var s screen
	c := bars60(&s)
	play := reporttest.New(report.Info{ID: "bag-3", Logs: "bag-3", Planned: report.Planned{Decision: "all of it", Notes: []string{"a\x1b[2Jb"}}})
	step := func(text string, show func(report.JobView)) {
		t.Helper()
		if err := play.Play(text); err != nil {
			t.Fatal(err)
		}
		show(play.Job.View(play.Now))
	}
	step("", c.Begin)
	step(`0s submit bag tasks=3 attempts=1
		1s start 0#1 a1/0
		1s start 1#1 a1/0
		2s done 0#1`, c.Update)
	step(`3s failed 1#1 exit=2 stderr="boom"
		3s start 2#1 a1/0`, c.Update)
	if _, err := s.Write([]byte("^C")); err != nil { // the terminal shows what its user types
		t.Fatal(err)
	}
	c.Note("a word")
	v := play.Job.View(play.Now)
	c.Update(v)
	step(`4s done 2#1
		5s end failed`, c.End)
	c.Close()
	want := `bag-3: all of it
note: a^[[2Jb
task 2 failed: exit 2
  | boom
a word
tasks [########################------------]  2/3  1 failed
bag-3 failed: 1 of 3 tasks failed; rerun it with: berth
  resume bag-3 --failed
logs: bag-3
`
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTerminalClosed: a console that was closed before the end leaves the bars, and
// one that never began draws nothing.
func TestTerminalClosed(t *testing.T) {
	var s screen
	c := bars60(&s)
	c.Close()
	c.Note("before")
	play := reporttest.New(report.Info{ID: "bag-3"})
	if err := play.Play("0s submit bag tasks=3"); err != nil {
		t.Fatal(err)
	}
	c.Begin(play.Job.View(play.Now))
	c.Close()
	want := "before\nbag-3: 3 tasks\ntasks [" + strings.Repeat("-", maxBar) + "]  0/3\nbag-3 queued (why: berth explain bag-3)\n"
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBackground: while the command is in the background its bars are not drawn, so nothing of what others write
// there is erased; failures are told. Back in the foreground the bars go on below that.
func TestBackground(t *testing.T) {
	var s screen
	inFront := true
	c := bars60(&s)
	c.area.front = func() bool { return inFront }
	play := reporttest.New(report.Info{ID: "bag-3"})
	step := func(text string, show func(report.JobView)) {
		t.Helper()
		if err := play.Play(text); err != nil {
			t.Fatal(err)
		}
		show(play.Job.View(play.Now))
	}
	step("0s submit bag tasks=3 attempts=1", c.Begin)
	if got := s.String(); !strings.Contains(got, "0/3") {
		t.Errorf("no bars in\n%s", got)
	}
	inFront = false
	if _, err := s.Write([]byte("$ ls\nfile\n")); err != nil {
		t.Fatal(err)
	}
	step("1s start 0#1 a1/0\n2s failed 0#1 exit=2\n2s start 1#1 a1/0\n3s done 1#1", c.Update)
	inFront = true
	c.Update(play.Job.View(play.Now))
	if got := s.String(); !strings.Contains(got, "1/3") {
		t.Errorf("no bars below\n%s", got)
	}
	inFront = false
	step("4s start 2#1 a1/0\n5s done 2#1\n6s end failed", c.End)
	got := s.String()
	for _, want := range []string{"$ ls\nfile\ntask 1 failed: exit 2\n", "1/3", "bag-3 failed: 1 of 3 tasks failed"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "2/3") {
		t.Errorf("bars are drawn in the background:\n%s", got)
	}
}

// TestFlood: of a job whose tasks all fail a few failures are shown in full and the rest is counted.
func TestFlood(t *testing.T) {
	var out strings.Builder
	c := New(Options{Out: &out, Mode: Plain})
	play := reporttest.New(report.Info{ID: "bag-3"})
	c.Begin(play.Job.View(play.Now))
	if err := play.Play("0s submit bag tasks=100 attempts=1"); err != nil {
		t.Fatal(err)
	}
	for task := range 100 {
		n := strconv.Itoa(task)
		if err := play.Play("1s start " + n + "#1 a1/0\n2s failed " + n + "#1 exit=1"); err != nil {
			t.Fatal(err)
		}
	}
	c.Update(play.Job.View(play.Now))
	c.Update(play.Job.View(play.Now))
	if got := strings.Count(out.String(), "exit 1"); got != maxTold {
		t.Errorf("%d failures are told in full:\n%s", got, out.String())
	}
	if got := strings.Count(out.String(), "and 95 other failures"); got != 1 {
		t.Errorf("the others are counted %d times:\n%s", got, out.String())
	}
}

// TestFloodEnds: a job of which thousands of tasks fail at once writes some of the failures and then counts them.
func TestFloodEnds(t *testing.T) {
	var out strings.Builder
	c := New(Options{Out: &out, Mode: Plain})
	play := reporttest.New(report.Info{ID: "bag-3"})
	c.Begin(play.Job.View(play.Now))
	if err := play.Play("0s submit bag tasks=600 attempts=1"); err != nil {
		t.Fatal(err)
	}
	for task := range 600 {
		n := strconv.Itoa(task)
		if err := play.Play("1s start " + n + "#1 a1/0\n2s failed " + n + "#1 exit=1"); err != nil {
			t.Fatal(err)
		}
		if task%10 == 9 {
			c.Update(play.Job.View(play.Now))
		}
	}
	if got := strings.Count(out.String(), "exit 1"); got != maxInAll {
		t.Errorf("%d failures are told in full:\n%s", got, out.String())
	}
	if got := strings.Count(out.String(), "further failures are only counted"); got != 1 {
		t.Errorf("that others are counted is said %d times:\n%s", got, out.String())
	}
	if got := strings.Count(out.String(), "other failure"); got > maxInAll/maxTold {
		t.Errorf("others are counted %d times:\n%s", got, out.String())
	}
}

// TestTerminalOfItsOwnSize draws on a pseudo terminal: the bars are as wide as it is,
// and no wider when it becomes narrower.
func TestTerminalOfItsOwnSize(t *testing.T) {
	master, slave := openPTY(t, 50, 24)
	var s screen
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = s.Write(bytes.ReplaceAll(buf[:n], []byte("\r\n"), []byte("\n")))
			if err != nil {
				return
			}
		}
	}()
	play := reporttest.New(report.Info{ID: "bag-3"})
	if err := play.Play("0s submit bag tasks=2\n1s start 0#1 a1/0"); err != nil {
		t.Fatal(err)
	}
	c := New(Detect(slave, false, func(k string) string { return map[string]string{"TERM": "xterm", "NO_COLOR": "1"}[k] }))
	c.Begin(play.Job.View(play.Now))
	setSize(t, slave, 40, 24)
	if err := play.Play("2s done 0#1\n3s end cancelled"); err != nil {
		t.Fatal(err)
	}
	c.End(play.Job.View(play.Now))
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	<-read
	want := "bag-3: 2 tasks\ntasks [#############-------------]  1/2\nbag-3 cancelled: 1 of 2 tasks done; go\n  on with: berth resume bag-3\n"
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// pty opens a terminal of that size.
func pty(t *testing.T, cols, rows uint16) *os.File {
	t.Helper()
	_, slave := openPTY(t, cols, rows)
	return slave
}

func setSize(t *testing.T, f *os.File, cols, rows uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: cols, Row: rows}); err != nil {
		t.Fatal(err)
	}
}

func openPTY(t *testing.T, cols, rows uint16) (master, slave *os.File) {
	t.Helper()
	m, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no pseudo terminal can be had here: %v", err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if err := unix.IoctlSetPointerInt(int(m.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(m.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo terminal can be had here: %v", err)
	}
	t.Cleanup(func() { _ = f.Close() })
	setSize(t, f, cols, rows)
	return m, f
}

func TestDetect(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	for name, c := range map[string]struct {
		file  *os.File
		json  bool
		env   map[string]string
		mode  Mode
		color bool
	}{
		"a file":            {file, false, map[string]string{"TERM": "xterm"}, Plain, false},
		"json":              {pty(t, 80, 24), true, map[string]string{"TERM": "xterm"}, Quiet, false},
		"a terminal":        {pty(t, 80, 24), false, map[string]string{"TERM": "xterm"}, Terminal, true},
		"NO_COLOR":          {pty(t, 80, 24), false, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, Terminal, false},
		"dumb":              {pty(t, 80, 24), false, map[string]string{"TERM": "dumb"}, Plain, false},
		"no TERM":           {pty(t, 80, 24), false, nil, Plain, false},
		"a terminal of 0×0": {pty(t, 0, 0), false, map[string]string{"TERM": "xterm"}, Plain, true},
	} {
		o := Detect(c.file, c.json, func(k string) string { return c.env[k] })
		if o.Mode != c.mode || o.Color != c.color || o.Out != c.file {
			t.Errorf("%s: got mode %d, colour %v", name, o.Mode, o.Color)
		}
	}
}

// TestQuiet: nothing is written when the result is for a program.
func TestQuiet(t *testing.T) {
	var out strings.Builder
	c := New(Options{Out: &out, Mode: Quiet})
	c.Begin(report.JobView{})
	c.Update(report.JobView{FailuresTotal: 1})
	c.Note("x")
	c.End(report.JobView{})
	c.Close()
	if out.Len() > 0 {
		t.Errorf("got %q", out.String())
	}
}
