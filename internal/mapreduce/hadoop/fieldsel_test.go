package hadoop

import (
	"bytes"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// selecting is a job that selects fields in its mapper and reducer.
func selecting(sep, mapSpec, reduceSpec string) *job.MapReduceSpec {
	program := job.Program{Native: job.NativeSelection}
	return &job.MapReduceSpec{Mapper: program, Reducer: &program, Conf: map[string]string{
		job.SelectionSeparatorKey: sep, job.MapSelectionKey: mapSpec, job.ReduceSelectionKey: reduceSpec}}
}

func selected(t interface{ Fatal(...any) }, spec *job.MapReduceSpec, mapper bool, in string) string {
	s, err := NewFieldSelection(spec, mapper)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Run(iotest.HalfReader(strings.NewReader(in)), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const fieldLines = "a,b,c,d,e,f,g,h\n1,2,3\n\n,,,\nx,y,,z,,\n"

// What Hadoop 3.4.2 wrote for the same lines, mapped without reduces.
func TestFieldSelectionMaps(t *testing.T) {
	for _, test := range []struct{ fields, want string }{
		{"6,5,1-3:0-", "g,f,b,c,d\ta,b,c,d,e,f,g,h\n,,2,3,\t1,2,3\n,,,,\t\n,,,,\t\n,,y,,z\tx,y,,z\n"},
		{":2-", "c,d,e,f,g,h\t\n3\t\n\t\n\t\n,z\t\n"},
		{"", "\t\n\t\n\t\n\t\n\t\n"},
	} {
		if got := selected(t, selecting(",", test.fields, ""), true, fieldLines); got != test.want {
			t.Errorf("%q: got %q, want %q", test.fields, got, test.want)
		}
	}
}

// What it wrote for them with a reduce: the mapper's records are in the order of their keys.
func TestFieldSelectionReduces(t *testing.T) {
	tabs := strings.ReplaceAll(fieldLines, ",", "\t")
	for _, test := range []struct{ sep, mapped, reduced, want string }{
		{",", "1,0:2-", "2-3:0-", ",\t\n,\t\n3,\t2,1,3\nc,d\tb,a,c,d,e,f,g,h\n,z\ty,x,,z\n"},
		{",", "1,0:2-", ":1-", "\n\n1,3\na,c,d,e,f,g,h\nx,,z\n"},
		{",", "1,0:2-", "", ""},
		{",", "1,0:2-", "1-2:", ",\n,\n1,3\na,c\nx,\n"},
		{"\t", "1,0:2-", "2-3:0-", "\t\t\n\t\t\n3\t\t2\t1\t3\nc\td\tb\ta\tc\td\te\tf\tg\th\n\tz\ty\tx\t\tz\n"},
		{"\t", ":0-", "1:0-", "\t\n\t\n2\t1\t2\t3\nb\ta\tb\tc\td\te\tf\tg\th\ny\tx\ty\t\tz\n"},
	} {
		in := fieldLines
		if test.sep == "\t" {
			in = tabs
		}
		spec := selecting(test.sep, test.mapped, test.reduced)
		records := strings.SplitAfter(selected(t, spec, true, in), "\n")
		format := MapFormat(spec)
		sortByKey(records[:len(records)-1], &format)
		got := selected(t, spec, false, strings.Join(records, ""))
		if got != test.want {
			t.Errorf("%+v: got %q", test, got)
		}
	}
}

// sortByKey brings lines into the order of their keys, and those of one key into that of their bytes.
func sortByKey(lines []string, f *LineFormat) {
	key := func(line string) string { return line[:f.KeyLen([]byte(strings.TrimSuffix(line, "\n")))] }
	for i := range lines {
		for j := i; j > 0 && key(lines[j]) < key(lines[j-1]); j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
}

func TestFieldSelectionRefuses(t *testing.T) {
	for _, spec := range []*job.MapReduceSpec{
		selecting("::", "0", ""), selecting(",", "a", ""), selecting(",", "1-2-3", ""), selecting(",", "-1-", ""), selecting(",", "0-99999", ""),
	} {
		if err := Check(spec); job.CodeOf(err) != job.CodeConfig {
			t.Errorf("%v: %v", spec.Conf, err)
		}
	}
	s, err := NewFieldSelection(selecting(",", "0:1", ""), true)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(strings.NewReader("a\tb,c\n"), &bytes.Buffer{}); job.CodeOf(err) != job.CodeFailed {
		t.Errorf("a key with a TAB: %v", err)
	}
}

// Any text that parses selects from any lines, one record for each, whose key is found again.
func TestFieldSelectionProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		fields := rapid.StringMatching(`([0-9]?-?[0-9]?,?){0,3}(:([0-9]?-?[0-9]?,?){0,3})?`).Draw(rt, "fields")
		sep := rapid.SampledFrom([]string{",", "\t", "é"}).Draw(rt, "sep")
		spec := selecting(sep, fields, "")
		if Check(spec) != nil {
			return
		}
		lines := rapid.SliceOf(rapid.StringMatching(`([a-c]?(,|é))*[a-c]?`)).Draw(rt, "lines")
		in := strings.ReplaceAll(strings.Join(append(lines, ""), "\n"), ",", sep)
		s, _ := NewFieldSelection(spec, true)
		out := strings.Split(selected(rt, spec, true, in), "\n")
		format := MapFormat(spec)
		for i, record := range out[:len(out)-1] {
			n := format.KeyLen([]byte(record))
			if got := strings.Count(record[:n], sep); n == len(record) || len(s.key) > 0 && got != len(s.key)-1 {
				rt.Fatalf("record %d, %q, has the key %q", i, record, record[:n])
			}
		}
		if len(out) != len(lines)+1 {
			rt.Fatalf("%d records of %d lines", len(out)-1, len(lines))
		}
	})
}
