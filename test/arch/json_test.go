package arch

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

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

// TestJSONIsDocumented compares docs/json.md and lab/json.md with the types that are printed: every
// key must be in the page with its type, and the page must have no others.
func TestJSONIsDocumented(t *testing.T) {
	page := documented(t, "../../docs/json.md", "../../lab/json.md")
	rows := keysOf(report.Full{})
	for k := range keysOf(report.JobView{}) {
		delete(rows, k)
	}
	needs := keysOf(report.JobStatus{})
	for k := range keysOf(report.Status{}) {
		delete(needs, k)
	}
	for section, want := range map[string]map[string]string{
		"status":     keysOf(report.StatusList{}),
		"job":        keysOf(report.JobView{}),
		"tasks":      rows,
		"needs":      needs,
		"plan":       keysOf(plan.Plan{}),
		"front":      keysOf(front.View{}),
		"sample":     keysOf(ui.Sampled{}),
		"machines":   keysOf(ui.Machines{}),
		"dashboard":  keysOf(ui.Address{}),
		"add":        keysOf(ui.Added{}),
		"watch":      keysOf(report.Event{}),
		"usage":      keysOf(report.UsageView{}),
		"forget":     keysOf(ui.Forgotten{}),
		"explain":    keysOf(control.Explanation{}),
		"accuracy":   keysOf(history.Accuracy{}),
		"slow-nodes": keysOf(predict.Slowness{}),
		"core-hours": keysOf(report.Account{}),
		"server":     keysOf(control.Server{}),

		"trace":      keysOf(ui.TraceJSON{}),
		"simulation": keysOf(commands.Simulation{}),
		"experiment": keysOf(evaluate.Report{}),
		"phases":     keysOf(evaluate.PhaseReport{}),
		"deadlines":  keysOf(evaluate.DeadlineReport{}),
		"memory":     keysOf(memory.Report{}),

		"paper-front": keysOf(rented.Report{}),

		"starts":     keysOf(starts.Report{}),
		"comparison": keysOf(scenario.Report{}),
	} {
		compareKeys(t, section, page[section], want)
		delete(page, section)
	}
	for section := range page {
		t.Errorf("section %q describes no output that is known", section)
	}
}

func compareKeys(t *testing.T, section string, page, types map[string]string) {
	t.Helper()
	for _, k := range slices.Sorted(maps.Keys(types)) {
		if page[k] != types[k] {
			t.Errorf("%s: key %s is of type %q, the page says %q", section, k, types[k], page[k])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(page)) {
		if _, ok := types[k]; !ok {
			t.Errorf("%s: the page has key %s, nothing prints it", section, k)
		}
	}
}

var (
	sectionLine = regexp.MustCompile(`^## (.+)$`)
	keyRow      = regexp.MustCompile("^\\| `([^`]+)` \\| ([a-z]+) \\|")
	keysAs      = regexp.MustCompile("keys as (?:`([^`]+)`(?: of )?)?(?:\\*([a-z]+)\\*)? \\|$")
)

// reference is a key whose object has the keys of another one, or of a whole section.
type reference struct{ section, key, ofSection, ofKey string }

// documented reads the tables of pages: section, key, type. Keys that may be absent
// are marked by a "?" behind their type.
func documented(t *testing.T, paths ...string) map[string]map[string]string {
	t.Helper()
	page := map[string]map[string]string{}
	var references []reference
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		section := ""
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if m := sectionLine.FindStringSubmatch(line); m != nil {
				section = m[1]
				page[section] = map[string]string{}
			}
			m := keyRow.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if _, twice := page[section][m[1]]; twice {
				t.Errorf("%s: key %s stands twice", section, m[1])
			}
			page[section][m[1]] = m[2]
			if strings.Contains(line, "may be absent") {
				page[section][m[1]] += "?"
			}
			if as := keysAs.FindStringSubmatch(line); as != nil {
				references = append(references, reference{section, m[1], cmp.Or(as[2], section), as[1]})
			}
		}
	}
	for _, r := range references {
		r.expand(t, page)
	}
	return page
}

// expand adds the keys that a reference stands for.
func (r reference) expand(t *testing.T, page map[string]map[string]string) {
	t.Helper()
	from, to := prefixBelow(r.ofKey, page[r.ofSection]), prefixBelow(r.key, page[r.section])
	whole := r.ofKey == "" // all keys of the section, but not those of the object itself
	if whole {
		from = ""
	}
	found := false
	for key, typ := range maps.Clone(page[r.ofSection]) {
		if below, ok := strings.CutPrefix(key, from); ok && !(whole && strings.HasPrefix(key, r.key)) {
			page[r.section][to+below], found = typ, true
		}
	}
	if !found {
		t.Errorf("%s: %s has the keys of %s, which has none", r.section, r.key, r.ofKey)
	}
}

// prefixBelow returns how the keys below a key begin.
func prefixBelow(key string, types map[string]string) string {
	if strings.HasPrefix(types[key], "list") {
		return key + "[]."
	}
	return key + "."
}

// keysOf walks the JSON keys of a value's type.
func keysOf(v any) map[string]string {
	keys := map[string]string{}
	walk(keys, "", reflect.TypeOf(v))
	return keys
}

func walk(keys map[string]string, prefix string, t reflect.Type) {
	for f := range fields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			walk(keys, prefix, f.Type)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		key := prefix + name
		keys[key] = typeName(typ)
		if strings.HasPrefix(options, "omit") {
			keys[key] += "?"
		}
		switch {
		case typ == reflect.TypeFor[time.Time]():
		case typ.Kind() == reflect.Struct:
			walk(keys, key+".", typ)
		case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
			walk(keys, key+"[].", typ.Elem())
		}
	}
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func typeName(t reflect.Type) string {
	if t == reflect.TypeFor[time.Time]() {
		return "time"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint16, reflect.Uint64:
		return "integer"
	case reflect.Uint8: // a constant, printed by its name where it has one
		if t.Implements(reflect.TypeFor[json.Marshaler]()) {
			return "string"
		}
		return "integer"
	case reflect.Slice:
		return "list"
	case reflect.Struct, reflect.Map:
		return "object"
	default:
		panic(fmt.Sprintf("type %v has no name in the page", t))
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
