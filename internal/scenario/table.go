package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/job/parse"
	"berth/internal/workload"
)

// table reads the keys of a table of a document. A key that nobody asked for is unknown.
// Its methods gather errors in the reader and return the zero value then.
type table struct {
	r      *reader
	path   string // "", or with a dot at its end
	values map[string]any
	asked  []string
}

// reader gathers what is wrong with a document.
type reader struct {
	doc  *Document
	errs []error
	seen []home // tables so far
}

func (r *reader) bad(path, what, do string) {
	r.errs = append(r.errs, configError(r.doc.where(path), what, do))
}

func configError(where, what, do string) *job.Error {
	return &job.Error{Class: job.User, Code: job.CodeConfig, Where: where, What: what, Do: do}
}

// err returns all that is wrong in the order of the lines.
func (r *reader) err() error {
	slices.SortStableFunc(r.errs, func(a, b error) int { return cmp.Compare(r.line(a), r.line(b)) })
	return errors.Join(r.errs...)
}

// line returns the line that an error names, 0 without one.
func (r *reader) line(err error) (line int) {
	var e *job.Error
	if errors.As(err, &e) {
		_, _ = fmt.Sscanf(strings.TrimPrefix(e.Where, r.doc.name), ":%d", &line)
	}
	return line
}

// root returns the table of the top.
func (r *reader) root() *table { return &table{r: r, values: r.doc.values} }

func (t *table) get(key string) (any, bool) {
	t.asked = append(t.asked, key)
	v, ok := t.values[key]
	return v, ok
}

// has reports whether a key is there.
func (t *table) has(key string) bool {
	_, ok := t.values[key]
	return ok
}

func (t *table) bad(key, what, do string) { t.r.bad(t.path+key, what, do) }

func (t *table) wrong(key string, v any, want string) {
	t.bad(key, key+" is "+typeName(v), "write "+want)
}

// done reports keys that nobody asked for, and says where they would belong.
func (t *table) done() {
	t.r.seen = append(t.r.seen, t.home())
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		if slices.Contains(t.asked, key) {
			continue
		}
		do := "known: " + strings.Join(t.asked, ", ")
		near, where := parse.Nearest(key, t.asked), belongs(key)
		switch {
		case near != "" && where != "":
			do = fmt.Sprintf("did you mean %q? %s belongs to %s", near, key, where)
		case near != "":
			do = fmt.Sprintf("did you mean %q?", near)
		case where != "":
			do = "it belongs to " + where
		}
		t.bad(key, fmt.Sprintf("unknown key %q", key), do)
	}
}

// sub returns a table in this one, nil without it.
func (t *table) sub(key string) *table {
	v, ok := t.get(key)
	if !ok {
		return nil
	}
	return t.asTable(key, v)
}

func (t *table) asTable(key string, v any) *table {
	values, ok := v.(map[string]any)
	if !ok {
		t.wrong(key, v, "a table")
		return nil
	}
	return &table{r: t.r, path: t.path + key + ".", values: values}
}

// list returns the tables of a list.
func (t *table) list(key string) []*table {
	v, ok := t.get(key)
	if !ok {
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		t.wrong(key, v, "a list of tables, [["+key+"]]")
		return nil
	}
	var tables []*table
	for i, item := range items {
		if inner := t.asTable(fmt.Sprintf("%s[%d]", key, i), item); inner != nil {
			tables = append(tables, inner)
		}
	}
	return tables
}

func (t *table) text(key, otherwise string) string {
	v, ok := t.get(key)
	if !ok {
		return otherwise
	}
	s, ok := v.(string)
	if !ok || s == "" {
		t.wrong(key, v, "a string")
		return otherwise
	}
	return s
}

// word is one of a few words.
func (t *table) word(key string, words ...string) string {
	s := t.text(key, words[0])
	if !slices.Contains(words, s) {
		do := "use " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
		if near := parse.Nearest(s, words); near != "" {
			do = fmt.Sprintf("did you mean %q?", near)
		}
		t.bad(key, fmt.Sprintf("%s cannot be %q", key, s), do)
		return words[0]
	}
	return s
}

func (t *table) flag(key string, otherwise bool) bool {
	v, ok := t.get(key)
	if !ok {
		return otherwise
	}
	b, ok := v.(bool)
	if !ok {
		t.wrong(key, v, "true or false")
	}
	return b
}

// count is a whole number from low to high, otherwise where it is not there.
func (t *table) count(key string, low, high, otherwise int64) int64 {
	v, ok := t.get(key)
	if !ok {
		return otherwise
	}
	n, ok := v.(int64)
	switch {
	case !ok:
		t.wrong(key, v, "a whole number")
		return otherwise
	case n < low || n > high:
		t.bad(key, fmt.Sprintf("%s is %d, which is not from %d to %d", key, n, low, high), "")
		return otherwise
	}
	return n
}

// number is a number from low to high, both of which count.
func (t *table) number(key string, low, high, otherwise float64) float64 {
	v, ok := t.get(key)
	if !ok {
		return otherwise
	}
	return t.checked(key, v, low, high, otherwise)
}

func (t *table) checked(key string, v any, low, high, otherwise float64) float64 {
	x, ok := v.(float64)
	if n, whole := v.(int64); whole {
		x, ok = float64(n), true
	}
	switch {
	case !ok:
		t.wrong(key, v, "a number")
		return otherwise
	case !(x >= low && x <= high):
		t.bad(key, fmt.Sprintf("%s is %g, which is not from %g to %g", key, x, low, high), "")
		return otherwise
	}
	return x
}

// span is a duration from low up.
func (t *table) span(key string, low, otherwise time.Duration) time.Duration {
	v, ok := t.get(key)
	if !ok {
		return otherwise
	}
	s, ok := v.(string)
	if !ok {
		t.wrong(key, v, `a duration, as in "1h30m"`)
		return otherwise
	}
	d, err := parse.Duration(t.r.doc.where(t.path+key), s)
	switch {
	case err != nil:
		t.r.errs = append(t.r.errs, err)
		return otherwise
	case d < low:
		t.bad(key, fmt.Sprintf("%s is %s, but at least %s is needed", key, s, job.FormatDuration(low)), "")
		return otherwise
	case d > workload.Longest:
		t.bad(key, fmt.Sprintf("%s is %s, which is more than ten years", key, s), "")
		return otherwise
	}
	return d
}

// limit is a duration that bounds something; 0: nothing.
func (t *table) limit(key string) time.Duration {
	if s, ok := t.values[key].(string); ok {
		if d, err := parse.Limit("", s); err == nil && d == 0 {
			t.asked = append(t.asked, key)
			return 0
		}
	}
	return t.span(key, time.Millisecond, 0)
}

// times is a distribution of durations: "60s", "60s±20s", "60s+-20s" or a table of mean and sd.
func (t *table) times(key string) (n workload.Normal) {
	v, ok := t.get(key)
	if !ok {
		return n
	}
	if _, ok := v.(map[string]any); ok {
		inner := t.asTable(key, v)
		n = workload.Normal{Mean: inner.span("mean", time.Millisecond, 0), SD: inner.span("sd", 0, 0)}
		inner.done()
		return n
	}
	s, ok := v.(string)
	if !ok {
		t.wrong(key, v, `a duration, as in "60s" or "60s±20s"`)
		return n
	}
	mean, sd, spread := strings.Cut(strings.Replace(s, "+-", "±", 1), "±")
	halves := &table{r: t.r, path: t.path, values: map[string]any{key: mean}}
	if n.Mean = halves.span(key, time.Millisecond, 0); spread {
		halves.values[key] = sd
		n.SD = halves.span(key, 0, 0)
	}
	return n
}

// typeName names a value's type for people.
func typeName(value any) string {
	switch v := value.(type) {
	case string:
		if v == "" {
			return "an empty string"
		}
		return fmt.Sprintf("the string %q", v)
	case int64, bool:
		return fmt.Sprint(v)
	case float64:
		if math.IsNaN(v) {
			return "not a number"
		}
		return fmt.Sprint(v)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}
