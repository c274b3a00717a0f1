package arch

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"berth/internal/command"
	"berth/internal/core/plan"
	"berth/internal/core/plan/front"
	"berth/internal/core/predict"
	"berth/internal/server/control"
	"berth/internal/server/history"
	"berth/internal/server/report"
	"berth/internal/show/ui"
	"berth/internal/simulate/scenario"
	"berth/lab/commands"
	"berth/lab/evaluate"
	"berth/lab/memory"
	"berth/lab/rented"
	"berth/lab/starts"
)

const (
	schemaFile = root + "/docs/berth.schema.json"
	jsonPage   = root + "/docs/json.md"
	labPage    = root + "/lab/json.md"
)

// printed is what the commands of berth print with --json: one of these types, or several of one, one a line.
var printed = map[string][]any{
	"add": {ui.Added{}}, "bag": {report.JobView{}, ui.Submitted{}, []string{}}, "cancel": {report.JobView{}, control.States{}},
	"close": {ui.Submitted{}}, "dashboard": {ui.Address{}}, "explain": {control.Explanation{}}, "forget": {ui.Forgotten{}},
	"front": {front.View{}}, "help": {command.Help{}}, "limit": {control.Limits{}}, "machines list": {ui.Machines{}}, "machines stop": {ui.Machines{}},
	"mapreduce": {report.JobView{}, ui.Submitted{}}, "plan bag": {plan.Plan{}, front.View{}}, "plan mapreduce": {plan.Plan{}, front.View{}},
	"plan run": {plan.Plan{}, front.View{}}, "progress": {report.JobView{}},
	"report": {report.JobView{}, report.Full{}, report.UsageView{}, report.Account{}, history.Accuracy{}, predict.Slowness{}},
	"resume": {report.JobView{}, ui.Submitted{}}, "run": {report.JobView{}, ui.Submitted{}, ui.Stages{}, ui.SubmittedStages{}}, "sample": {ui.Sampled{}},
	"server start": {control.Server{}}, "server status": {control.Server{}}, "set": {control.WasSet{}}, "simulate run": {scenario.Report{}},
	"status": {report.StatusList{}, report.JobStatus{}}, "trace stats": {ui.TraceJSON{}}, "wait": {report.JobView{}, control.Jobs{}},
	"watch": {report.Event{}},
}

// sections are those of the pages with a table of keys, in their order. A table has not the keys of less.
var sections = []*section{
	{page: jsonPage, title: "status", of: report.StatusList{}},
	{page: jsonPage, title: "needs", of: report.JobStatus{}, less: report.Status{}},
	{page: jsonPage, title: "job", of: report.JobView{}},
	{page: jsonPage, title: "tasks", of: report.Full{}, less: report.JobView{}},
	{page: jsonPage, title: "add", of: ui.Added{}},
	{page: jsonPage, title: "watch", of: report.Event{}},
	{page: jsonPage, title: "usage", of: report.UsageView{}},
	{page: jsonPage, title: "front", of: front.View{}},
	{page: jsonPage, title: "sample", of: ui.Sampled{}},
	{page: jsonPage, title: "dashboard", of: ui.Address{}},
	{page: jsonPage, title: "machines", of: ui.Machines{}},
	{page: jsonPage, title: "plan", of: plan.Plan{}},
	{page: jsonPage, title: "forget", of: ui.Forgotten{}},
	{page: jsonPage, title: "explain", of: control.Explanation{}},
	{page: jsonPage, title: "core-hours", of: report.Account{}},
	{page: jsonPage, title: "slow-nodes", of: predict.Slowness{}},
	{page: jsonPage, title: "accuracy", of: history.Accuracy{}},
	{page: jsonPage, title: "server", of: control.Server{}},
	{page: jsonPage, title: "comparison", of: scenario.Report{}},
	{page: jsonPage, title: "trace", of: ui.TraceJSON{}},
	{page: jsonPage, title: "help", of: command.Help{}},

	{page: labPage, title: "simulation", of: commands.Simulation{}},
	{page: labPage, title: "experiment", of: evaluate.Report{}},
	{page: labPage, title: "phases", of: evaluate.PhaseReport{}},
	{page: labPage, title: "memory", of: memory.Report{}},
	{page: labPage, title: "paper-front", of: rented.Report{}},
	{page: labPage, title: "starts", of: starts.Report{}},
	{page: labPage, title: "deadlines", of: evaluate.DeadlineReport{}},
}

// TestJSONIsDocumented holds the schema and the tables of docs/json.md and lab/json.md against the types that are printed and
// what stands behind their fields, and writes them with BERTH_WRITE_DOCS, as make docs does.
func TestJSONIsDocumented(t *testing.T) {
	current(t, schemaFile, schemaOf(t, printed))
	text := map[string]string{jsonPage: read(t, jsonPage), labPage: read(t, labPage)}
	for _, s := range sections {
		s.number(t, reflect.TypeOf(s.of), "", 0)
	}
	for _, s := range sections {
		text[s.page] = s.put(t, text[s.page])
	}
	for page := range text {
		current(t, page, text[page])
		tables := strings.Count(text[page], tableHead)
		for _, s := range sections {
			if s.page == page {
				tables--
			}
		}
		if tables != 0 {
			t.Errorf("%s has %d tables of keys of which no type is known", page, tables)
		}
	}
}

// current checks that a file has that text, or writes it.
func current(t *testing.T, file, text string) {
	t.Helper()
	if os.Getenv("BERTH_WRITE_DOCS") != "" {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if read(t, file) != text {
		t.Errorf("%s is not what the types say: run make docs", file)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && os.Getenv("BERTH_WRITE_DOCS") == "" {
		t.Fatal(err)
	}
	return string(text)
}

const tableHead = "| key | type | meaning |\n|---|---|---|\n"

// section is a section of a page, whose table has the keys of a type.
type section struct {
	page, title string
	of, less    any
}

// spot is where the keys of a type are listed: other tables name it. It is where the least of other keys leads to them.
type spot struct {
	section *section
	path    string // empty: they are those of the section
	depth   int
}

var spots = map[reflect.Type]spot{}

// number notes where the keys of a type, and of the types below it, could be listed.
func (s *section) number(t *testing.T, typ reflect.Type, path string, depth int) {
	if was, known := spots[typ]; !known || depth < was.depth {
		spots[typ] = spot{s, path, depth}
	}
	for _, f := range s.fields(t, typ, depth) {
		if below, mark := objectOf(f.typ); below != nil {
			s.number(t, below, strings.TrimPrefix(path+"."+f.key+mark, "."), depth+1)
		}
	}
}

// fields returns the keys of a type that the section has.
func (s *section) fields(t *testing.T, typ reflect.Type, depth int) []field {
	var less reflect.Type
	if depth == 0 && s.less != nil {
		less = reflect.TypeOf(s.less)
	}
	return fieldsOf(t, typ, less)
}

// put puts the section's table into the text of its page.
func (s *section) put(t *testing.T, text string) string {
	t.Helper()
	from := strings.Index(text, "\n## "+s.title+"\n")
	if from < 0 {
		t.Fatalf("%s has no section %s", s.page, s.title)
	}
	table := strings.Index(text[from:], tableHead)
	if next := strings.Index(text[from+1:], "\n## "); table < 0 || next >= 0 && next < table {
		t.Fatalf("section %s of %s has no table of keys", s.title, s.page)
	}
	from += table + len(tableHead)
	to := from
	for to < len(text) && text[to] == '|' {
		to += strings.IndexByte(text[to:], '\n') + 1
	}
	var rows strings.Builder
	s.rows(t, &rows, reflect.TypeOf(s.of), "", 0)
	return text[:from] + rows.String() + text[to:]
}

func (s *section) rows(t *testing.T, rows *strings.Builder, typ reflect.Type, prefix string, depth int) {
	for _, f := range s.fields(t, typ, depth) {
		key := prefix + f.key
		parts := make([]string, 0, 3)
		if meaning := strings.ReplaceAll(f.meaning, "see docs/json.md", "see below *job*"); meaning != "" {
			parts = append(parts, meaning)
		}
		if f.optional && !strings.Contains(f.meaning, "may be absent") {
			parts = append(parts, "may be absent")
		}
		below, mark := objectOf(f.typ)
		at := spots[below]
		here := at == spot{s, key + mark, depth + 1}
		if below != nil && !here {
			parts = append(parts, at.reference(s))
		}
		fmt.Fprintf(rows, "| `%s` | %s | %s|\n", key, nameOf(f.typ), strings.TrimLeft(strings.Join(parts, "; ")+" ", " "))
		if here {
			s.rows(t, rows, below, key+mark+".", depth+1)
		}
	}
}

// reference says where the keys are, in the words of the page.
func (at spot) reference(from *section) string {
	switch path := strings.TrimSuffix(at.path, "[]"); {
	case path == "":
		return "keys as *" + at.section.title + "*"
	case at.section == from:
		return "keys as `" + path + "`"
	default:
		return "keys as `" + path + "` of *" + at.section.title + "*"
	}
}

// TestListsAreNeverNull: programs may iterate over lists without a check for null.
func TestListsAreNeverNull(t *testing.T) {
	v := report.New(report.Info{ID: "bag-1"}).View(1)
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "null") {
		t.Errorf("a job of which nothing is known has a null: %s", raw)
	}
}
