package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestNight: a step that fails keeps no other from running, and what is started again makes only what is not done.
func TestNight(t *testing.T) {
	some := []step{{name: "a", target: "a"}, {name: "b", target: "b", variable: "B", full: "-repeat 10", keeps: true}, {name: "c", target: "c"}}
	var ran [][]string
	broken := errors.New("no room")
	n := night{dir: t.TempDir(), make: func(_ context.Context, _ string, args ...string) error {
		ran = append(ran, args)
		if args[0] == "b" && len(ran) < 4 {
			return broken
		}
		return nil
	}}
	if err := n.all(context.Background(), some); !errors.Is(err, broken) || !strings.Contains(err.Error(), "b.log") {
		t.Errorf("the error is %v", err)
	}
	if err := n.all(context.Background(), some); err != nil {
		t.Error(err)
	}
	if err := n.all(context.Background(), some); err != nil {
		t.Error(err)
	}
	second := []string{"b", "B=-repeat 10 -out " + filepath.Join(n.dir, "b")}
	if want := [][]string{{"a"}, second, {"c"}, second}; !reflect.DeepEqual(ran, want) {
		t.Errorf("make was called with %q, not %q", ran, want)
	}
}

// TestNightEnded: a step during which the night is ended is not done.
func TestNightEnded(t *testing.T) {
	ctx, end := context.WithCancel(context.Background())
	n := night{dir: t.TempDir(), make: func(context.Context, string, ...string) error {
		end()
		return nil
	}}
	err := n.all(ctx, []step{{name: "a", target: "a"}, {name: "b", target: "b"}})
	left, _ := os.ReadDir(n.dir)
	if err == nil || !strings.Contains(err.Error(), "during a") || len(left) > 0 {
		t.Errorf("%v; the folder has %v", err, left)
	}
}

// TestQuick: what is tried is short and changes no page.
func TestQuick(t *testing.T) {
	n := night{dir: "DIR", quick: true}
	for _, s := range steps {
		if flags, ok := s.flags(true); ok && !strings.HasSuffix(strings.Join(s.arguments(n, flags), " "), "-docs=") {
			t.Errorf("%s writes to its page", s.name)
		}
	}
}

const example = `Measured 2026-01-01 with commit a.

| what | measured |
|---|--:|
| tasks a second | 1 |

Cluster:

Measured 2026-01-02 with commit b.

| job | rule | extra CPU %, of all | mean s |
|---|---|--:|--:|
| cap3 | ` + "`nothing`" + ` | 0.0 | 424 ±59 |
|  | ` + "`berth`" + ` | −3.9 | 1,284 ±6 |

The mean error is 11 %, that of the worst cell 30 %.

Cloud:

| job | mean s |
|---|--:|
| cap3 | 9 s, 5.42 MB |
`

// TestFind: a cell is found by the parts of its row, where an empty cell stands for the one above, and by its column; a line
// by its text; and what is not there is not found.
func TestFind(t *testing.T) {
	for _, tt := range []struct {
		f    figure
		want value
	}{
		{figure{row: "a second", column: "measured"}, value{"1", 1, "Measured 2026-01-01 with commit a."}},
		{figure{after: "Cluster:", row: "cap3 | `berth`", column: "extra CPU"}, value{"−3.9", -3.9, "Measured 2026-01-02 with commit b."}},
		{figure{row: "cap3 | `berth`", column: "mean s"}, value{"1,284 ±6", 1284, "Measured 2026-01-02 with commit b."}},
		{figure{row: "mean error"}, value{"11 %", 11, "Measured 2026-01-02 with commit b."}},
		{figure{row: "the worst cell"}, value{"30 %", 30, "Measured 2026-01-02 with commit b."}},
		{figure{after: "Cloud:", row: "cap3", column: "mean s", unit: "MB"}, value{"9 s, 5.42 MB", 5.42, "Measured 2026-01-02 with commit b."}},
		// The worst of all cells up to a text.
		{figure{after: "Cluster:", until: "Cloud:", row: "cap3", column: "mean s", target: 9}, value{"1,284 ±6", 1284, "Measured 2026-01-02 with commit b."}},
		{figure{after: "Cluster:", until: "Cloud:", row: "cap3", column: "mean s", target: 9, more: true}, value{"424 ±59", 424, "Measured 2026-01-02 with commit b."}},
		{figure{until: "nowhere", row: "cap3", column: "mean s", target: 9, more: true}, value{"9 s, 5.42 MB", 9, "Measured 2026-01-02 with commit b."}},
	} {
		if got, ok := tt.f.find(example); !ok || got != tt.want {
			t.Errorf("%+v is %+v, %v", tt.f, got, ok)
		}
	}
	for _, f := range []figure{{row: "cap3 | `late`", column: "mean s"}, {row: "cap3", column: "none"}, {after: "Cloud", row: "a second", column: "measured"}} {
		if got, ok := f.find(example); ok {
			t.Errorf("%+v is %+v", f, got)
		}
	}
}

// TestDate: each date has its commit, and says so if that was not all of the source.
func TestDate(t *testing.T) {
	for line, want := range map[string]string{
		"Measured 2026-01-01 with commit a (turns 1 to 2) on x; and 2026-01-02 with commit b and changes on y.": "2026-01-01, a; 2026-01-02, b and changes",
		"Measured 2026-01-01 on x: berth with commit a":                                                         "2026-01-01",
		"Measured": "date unknown",
	} {
		if got := date(line); got != want {
			t.Errorf("%s: %q, not %q", line, got, want)
		}
	}
}

// TestPages: the page has each figure with its target, and a measurement only once however often it is written.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	load := "Measured 2026-01-0%d with commit a.\n\n| held | measured |\n|---|---|\n| tasks a second | %d |\n"
	for _, day := range []string{"1", "1", "2"} {
		text := strings.NewReplacer("%d with", day+" with", "| %d |", "| "+day+"9000 |").Replace(load)
		if err := os.WriteFile(filepath.Join(dir, "load.md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := writePage(dir); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "figures.md"))
	if want := "| ≥ 20000 | 29000 | yes | 2026-01-02, a | 19000 |"; err != nil || !strings.Contains(string(page), want) {
		t.Errorf("the page lacks %q: %s, %v", want, page, err)
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "figures.svg")); err != nil || !strings.Contains(string(svg), "</svg>") {
		t.Errorf("there is no picture: %v", err)
	}
	for _, f := range figures { // so that no name of a page is wrong
		if _, err := os.Stat(filepath.Join("..", "results", f.page+".md")); err != nil {
			t.Error(err)
		}
	}
}
