package input

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

const mib = 1 << 20

// tree creates sparse files of the given sizes below dir.
func tree(t fataler, dir string, files map[string]int64) {
	for name, size := range files {
		path := filepath.Join(dir, name)
		writeFile(t, path, nil)
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
}

// describe writes splits as "a[0:10] b | c.gz".
func describe(dir string, splits []job.Split) string {
	var all []string
	for _, s := range splits {
		var ranges []string
		for _, r := range s.Ranges {
			name := strings.TrimPrefix(r.Path, dir+"/")
			if r.Length >= 0 && r.Length < r.Size {
				name += fmt.Sprintf("[%d:%d]", r.Offset, r.Offset+r.Length)
			}
			ranges = append(ranges, name)
		}
		all = append(all, strings.Join(ranges, " "))
	}
	return strings.Join(all, " | ")
}

func TestPlanSplits(t *testing.T) {
	big := map[string]int64{"a": 3*mib + mib/2, "b": 100, "c": 0, "d.gz": 100, "e": 100}
	small := map[string]int64{"a": 10, "b": 10, "c": 0, "d": 30}
	for _, c := range []struct {
		name  string
		files map[string]int64
		spec  job.MapReduceSpec
		opts  SplitOptions
		want  string
	}{
		{"cut by slots", big, job.MapReduceSpec{}, SplitOptions{Slots: 1}, "a[0:1048576] | a[1048576:2097152] | a[2097152:3145728] | a[3145728:3670016] b d.gz e"},
		{"one file each", big, job.MapReduceSpec{InputFormat: "TextInputFormat"}, SplitOptions{Slots: 100}, "a[0:1048576] | a[1048576:2097152] | a[2097152:3145728] | a[3145728:3670016] | b | c | d.gz | e"},
		{"one file each, by field", small, job.MapReduceSpec{OneFilePerSplit: true}, SplitOptions{}, "a | b | c | d"},
		{"one file each, by format", small, job.MapReduceSpec{InputFormat: "KeyValueTextInputFormat"}, SplitOptions{}, "a | b | c | d"},
		{"packed", small, job.MapReduceSpec{InputFormat: "CombineTextInputFormat"}, SplitOptions{Slots: 2}, "a b d"},
		{"hint", small, job.MapReduceSpec{MapsHint: 5, InputFormat: "TextInputFormat"}, SplitOptions{}, "a | b | c | d[0:10] | d[10:20] | d[20:30]"},
		{"hint of one", big, job.MapReduceSpec{MapsHint: 1}, SplitOptions{Slots: 8}, "a b d.gz e"},
		{"memory", map[string]int64{"a": 40 * mib}, job.MapReduceSpec{}, SplitOptions{Slots: 1, Memory: 12 * mib}, "a[0:8808037] | a[8808037:17616074] | a[17616074:26424111] | a[26424111:35232148] | a[35232148:41943040]"},
		{"much memory", map[string]int64{"a": 5 * mib}, job.MapReduceSpec{}, SplitOptions{Slots: 1, Memory: 12 * mib}, "a[0:1310720] | a[1310720:2621440] | a[2621440:3932160] | a[3932160:5242880]"},
		{"full", map[string]int64{"a": mib - openCost, "b": 0, "c": 100}, job.MapReduceSpec{}, SplitOptions{}, "a | c"},
		{"just not full", map[string]int64{"a": mib - openCost - 100, "b": 0, "c": 100}, job.MapReduceSpec{}, SplitOptions{}, "a c"},
		{"little memory", map[string]int64{"a": 3 * mib}, job.MapReduceSpec{}, SplitOptions{Slots: 1, Memory: 3 * mib}, "a[0:1048576] | a[1048576:2097152] | a[2097152:3145728]"},
		{"user's maximum", map[string]int64{"a": 100}, job.MapReduceSpec{MaxSplit: 40}, SplitOptions{}, "a[0:40] | a[40:80] | a[80:100]"},
		{"user's large maximum", map[string]int64{"a": 2 * mib}, job.MapReduceSpec{MaxSplit: 4 * mib}, SplitOptions{}, "a[0:1048576] | a[1048576:2097152]"},
		{"user's minimum", big, job.MapReduceSpec{MinSplit: 2 * mib}, SplitOptions{}, "a[0:2097152] | a[2097152:3670016] b d.gz e"},
		{"slop", map[string]int64{"a": mib + mib/10}, job.MapReduceSpec{}, SplitOptions{}, "a"},
		{"all empty", map[string]int64{"a": 0, "b": 0}, job.MapReduceSpec{}, SplitOptions{}, "a"},
		{"all empty, one file each", map[string]int64{"a": 0, "b": 0}, job.MapReduceSpec{OneFilePerSplit: true}, SplitOptions{}, "a | b"},
		{"all empty, by lines", map[string]int64{"a": 0, "b": 0}, job.MapReduceSpec{InputFormat: "NLineInputFormat"}, SplitOptions{}, "a"},
	} {
		dir := t.TempDir()
		tree(t, dir, c.files)
		c.spec.Inputs = []string{dir}
		splits, sum, err := PlanSplits(&c.spec, c.opts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := describe(dir, splits); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, got, c.want)
		}
		if sum.Files != len(c.files) {
			t.Errorf("%s: %+v for %d files", c.name, sum, len(c.files))
		}
	}
}

func TestPlanByLines(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "a"), []byte("1\n22\n\n4444"))
	writeFile(t, filepath.Join(dir, "b.gz"), gzipped(t, []byte("1\n2\n")))
	writeFile(t, filepath.Join(dir, "c"), []byte("1\n2\n"))
	for _, c := range []struct {
		lines int
		want  string
	}{
		{0, "a[0:2] | a[2:5] | a[5:6] | a[6:10] | b.gz | c[0:2] | c[2:4]"},
		{2, "a[0:5] | a[5:10] | b.gz | c"},
		{3, "a[0:6] | a[6:10] | b.gz | c"},
	} {
		splits, _, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{dir}, InputFormat: "NLineInputFormat", LinesPerMap: c.lines}, SplitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(dir, splits); got != c.want {
			t.Errorf("%d lines: got %s, want %s", c.lines, got, c.want)
		}
	}
}

func TestPlanByLinesRefusesTooMany(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	writeFile(t, path, bytes.Repeat(lineEnd, maxTasks+1))
	_, _, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{path}, InputFormat: "NLineInputFormat"}, SplitOptions{})
	if job.CodeOf(err) != job.CodeConfig || !strings.Contains(fmt.Sprint(err), "linespermap") {
		t.Errorf("got %v", err)
	}
}

// Splits contain every byte of the input once, in the order of paths. No split is much larger than
// planned, and no two neighbours could have been one split.
func TestPlanPacksWell(t *testing.T) {
	sizes := rapid.OneOf(rapid.Int64Range(0, 100_000), rapid.Int64Range(0, 8*mib))
	rapid.Check(t, func(t *rapid.T) {
		var files []inputFile
		for i := range rapid.IntRange(1, 30).Draw(t, "files") {
			files = append(files, inputFile{Range: job.Range{Path: fmt.Sprintf("f%02d", i), Size: sizes.Draw(t, "size")}, packed: rapid.Bool().Draw(t, "packed")})
		}
		size := rapid.Int64Range(mib, 4*mib).Draw(t, "aim")
		splits := packFiles(files, size, openCost)
		var ranges []job.Range
		before := int64(size)
		for i, s := range splits {
			first, load := int64(0), int64(0)
			for j, r := range s.Ranges {
				ranges = append(ranges, r)
				cost := r.Length + openCost
				if r.Length < 0 {
					cost = r.Size*unpackCost + openCost
				}
				if load += cost; j == 0 {
					first = cost
				}
			}
			if len(s.Ranges) > 1 && load > size+openCost {
				t.Fatalf("split %d holds %d of %d", i, load, size)
			}
			if before+first <= size {
				t.Fatalf("splits %d and %d hold %d and %d at the start, of %d", i-1, i, before, first, size)
			}
			before = load
		}
		checkCovered(t, files, ranges)
	})
}

// checkCovered checks that ranges cover the files with bytes without gap or overlap, in order.
func checkCovered(t *rapid.T, files []inputFile, ranges []job.Range) {
	for _, f := range files {
		for at := int64(0); at < f.Size; {
			if len(ranges) == 0 || ranges[0].Path != f.Path || ranges[0].Offset != at || ranges[0].Size != f.Size {
				t.Fatalf("at %d of %+v: next is %v", at, f, ranges)
			}
			if at += ranges[0].Length; ranges[0].Length < 0 {
				at = f.Size
			}
			ranges = ranges[1:]
		}
	}
	if len(ranges) > 1 || len(ranges) == 1 && ranges[0].Size > 0 {
		t.Fatalf("left over: %v", ranges)
	}
}

// For any size and format, the splits contain the lines of the files.
func TestPlannedSplitsReadBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for i := range rapid.IntRange(1, 4).Draw(t, "files") {
			text := textGen.Draw(t, "text")
			writeFile(t, filepath.Join(dir, fmt.Sprintf("f%d", i)), text)
			want.WriteString(completed(text))
		}
		spec := &job.MapReduceSpec{
			Inputs:      []string{dir},
			InputFormat: rapid.SampledFrom([]string{"", "TextInputFormat", "NLineInputFormat", "CombineTextInputFormat"}).Draw(t, "format"),
			MaxSplit:    rapid.SampledFrom([]int64{0, 1, 7, 1000, 100_000}).Draw(t, "max"),
			LinesPerMap: rapid.IntRange(0, 3).Draw(t, "lines"),
		}
		if spec.MaxSplit > 0 && int64(want.Len())/spec.MaxSplit > 1000 {
			spec.MaxSplit *= 1000
		}
		splits, _, err := PlanSplits(spec, SplitOptions{Slots: 2})
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, s := range splits {
			got.WriteString(readSplit(t, s, spec, nil))
		}
		if got.String() != want.String() {
			t.Fatalf("got %d bytes, want %d", got.Len(), want.Len())
		}
	})
}

func TestFindInputs(t *testing.T) {
	dir := t.TempDir()
	hostile := "new\nline \xff*[x]"
	tree(t, dir, map[string]int64{
		"in/b": 1, "in/a": 1, "in/sub/c": 1, "in/.hidden": 1, "in/_SUCCESS": 1, "in/_logs/x": 1, "in/.git/x": 1,
		"day1/log.txt": 1, "day2/log.txt": 1, "day2/_log.txt": 1, "day10/log.txt": 1, "{brace}": 1, hostile: 1,
		"empty/.keep": 1, "links/good": 1,
	})
	if err := os.Symlink("..", filepath.Join(dir, "in/sub/up")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../day1", filepath.Join(dir, "in/link")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "in/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "links/broken")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inputs []string
		conf   map[string]string
		want   []string
	}{
		{[]string{"in"}, nil, []string{"in/a", "in/b", "in/link/log.txt", "in/sub/c"}},
		{[]string{"in/sub/"}, nil, []string{"in/sub/c", "in/sub/up/a", "in/sub/up/b", "in/sub/up/link/log.txt"}},
		{[]string{"in"}, map[string]string{recursiveKey: "false", ignoreDirsKey: "true"}, []string{"in/a", "in/b"}},
		{[]string{"in"}, map[string]string{IncludeKey: "*.txt, [ax]"}, []string{"in/a", "in/link/log.txt"}},
		{[]string{"in", "day2"}, map[string]string{IncludeKey: "b"}, []string{"in/b"}},
		{[]string{"links"}, map[string]string{IncludeKey: "g*"}, []string{"links/good"}},
		{[]string{"in/a", "day?", "in/sub/c*"}, map[string]string{IncludeKey: "nothing"}, []string{"in/a", "in/sub/c"}},
		{[]string{"in"}, map[string]string{IncludeKey: " , "}, []string{"in/a", "in/b", "in/link/log.txt", "in/sub/c"}},
		{[]string{"in/a", "day2"}, nil, []string{"day2/log.txt", "in/a"}},
		{[]string{"in/a", "in/a"}, nil, []string{"in/a", "in/a"}},
		{[]string{"in/_SUCCESS"}, nil, []string{"in/_SUCCESS"}},
		{[]string{"day?/*.txt"}, nil, []string{"day1/log.txt", "day2/log.txt"}},
		{[]string{"day{1,10}"}, nil, []string{"day1/log.txt", "day10/log.txt"}},
		{[]string{"day{1,{2,3}}/log.txt"}, nil, []string{"day1/log.txt", "day2/log.txt"}},
		{[]string{"day[^1]/_*"}, nil, []string{"day2/_log.txt"}},
		{[]string{"{brace}"}, nil, []string{"{brace}"}},
		{[]string{"[{]brace[}]"}, nil, []string{"{brace}"}},
		{[]string{hostile}, nil, []string{hostile}},
		{[]string{"new*"}, nil, []string{hostile}},
		{[]string{`\{brace\}*`}, nil, []string{"{brace}"}},
	} {
		spec := &job.MapReduceSpec{Conf: c.conf}
		for _, in := range c.inputs {
			spec.Inputs = append(spec.Inputs, dir+"/"+in)
		}
		found, err := findInputs(spec, SplitOptions{})
		if err != nil {
			t.Errorf("%q: %v", c.inputs, err)
			continue
		}
		var got []string
		for _, f := range found.files {
			got = append(got, strings.TrimPrefix(filepath.Clean(f.Path), dir+"/"))
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.inputs, got, c.want)
		}
	}
}

func TestFindInputsRefuses(t *testing.T) {
	dir := t.TempDir()
	tree(t, dir, map[string]int64{"in/a": 1, "in/sub/b": 1, "empty/.keep": 1, "file": 1, "links/good": 1})
	for _, link := range []string{"broken", "links/broken"} {
		if err := os.Symlink("nowhere", filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		input string
		conf  map[string]string
		code  job.Code
		want  string
	}{
		{"missing", nil, job.CodeNoInput, "missing: input does not exist"},
		{"broken", nil, job.CodeNoInput, "broken: input does not exist"},
		{"*.csv", nil, job.CodeNoInput, "*.csv: input matches nothing"},
		{"x[", nil, job.CodeNoInput, "x[: input is not a valid pattern"},
		{"x{a", nil, job.CodeNoInput, "x{a: input is not a valid pattern"},
		{strings.Repeat("{a,b}", 20), nil, job.CodeNoInput, "input is not a valid pattern"},
		{"empty", map[string]string{IncludeKey: "*"}, job.CodeNoInput, "berth.input.include matches no file in"},
		{"in", map[string]string{recursiveKey: "false"}, job.CodeNoInput, "in/sub: is a folder in an input folder"},
		{"in", map[string]string{recursiveKey: "false"}, job.CodeNoInput, "in/sub: is a folder in an input folder"},
		{"in", map[string]string{IncludeKey: "*.go"}, job.CodeNoInput, "berth.input.include matches no file in"},
		{"in", map[string]string{IncludeKey: "a,[x"}, job.CodeConfig, `berth.input.include: "[x" is not a valid glob`},
		{"in", map[string]string{IncludeKey: "sub/*"}, job.CodeConfig, `berth.input.include: "sub/*" is not a valid glob`},
		{"links", nil, job.CodeIO, "links/broken: is a link to a file that does not exist"},
		{"file/x", nil, job.CodeIO, "not a directory"},
		{"../../../../../../../dev/null", nil, job.CodeNoInput, "is not a regular file"},
	} {
		_, _, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{dir + "/" + c.input}, Conf: c.conf}, SplitOptions{})
		if job.CodeOf(err) != c.code || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: got %v (code %d), want code %d and %q", c.input, err, job.CodeOf(err), c.code, c.want)
		}
	}
	if _, _, err := PlanSplits(&job.MapReduceSpec{}, SplitOptions{}); job.CodeOf(err) != job.CodeNoInput {
		t.Errorf("no inputs: got %v", err)
	}
	for _, format := range []string{"", "TextInputFormat", "NLineInputFormat"} {
		splits, sum, err := PlanSplits(&job.MapReduceSpec{Inputs: []string{dir + "/empty"}, InputFormat: format}, SplitOptions{})
		if len(splits) != 0 || sum.Files != 0 || err != nil {
			t.Errorf("a folder without files, %q: %v, %v", format, splits, err)
		}
	}
}
