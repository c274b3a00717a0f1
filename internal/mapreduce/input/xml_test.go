package input

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

func xmlSpec(begin, end string) *job.MapReduceSpec {
	return &job.MapReduceSpec{InputFormat: "StreamXmlRecordReader", Conf: map[string]string{job.XMLBeginKey: begin, job.XMLEndKey: end}}
}

// readAll reads splits one after the other, and returns the number of records that they report.
func readAll(spec *job.MapReduceSpec, splits []job.Split) (text string, records int64, err error) {
	var told tally
	for _, split := range splits {
		more, err := tryReadSplit(split, spec, &told)
		text += more
		if err != nil {
			return text, told.records, err
		}
	}
	return text, told.records, nil
}

// Hadoop 3.4.2 gave these records to a mapper for the same file.
func TestXMLRecords(t *testing.T) {
	const in = "<mediawiki>\n<page a=\"1\"><title>one</title></page>\n<page a=\"2\">\n <title>two</title>\n</page><page>three</page> junk\n" +
		"<page>x<y</page>\n<page>unfinished\n</mediawiki>\n"
	const want = "<page a=\"1\"><title>one</title></page>\t\n<page a=\"2\">\n <title>two</title>\n</page>\t\n<page>three</page>\t\n" +
		"<page>x<y</page>\t\n"
	path := filepath.Join(t.TempDir(), "in.xml")
	writeFile(t, path, []byte(in))
	spec := xmlSpec("<page", "</page>")
	spec.Inputs = []string{path}
	for _, spec.MaxSplit = range []int64{0, 40, 60} {
		splits, _, err := PlanSplits(spec, SplitOptions{Slots: 1})
		if err != nil {
			t.Fatal(err)
		}
		got, records, err := readAll(spec, splits)
		if got != want || records != 4 || err != nil {
			t.Errorf("%d splits: got %q, %d records, %v", len(splits), got, records, err)
		}
	}
	spec.Mapper.Native = job.NativeIdentity
	if _, _, err := readAll(spec, []job.Split{whole(t, path)}); err == nil || !strings.Contains(err.Error(), "the record at byte 50 contains a newline") {
		t.Errorf("a record of several lines without a mapper: %v", err)
	}
}

// For any cuts, the ranges of a file contain its records, each once, if no record contains a begin mark.
// A compressed file has the same records.
func TestXMLSplits(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`([ab<\n]{0,4}(<p>[abp/\n]{0,30}</p>)?){0,20}`).Draw(rt, "text")
		path := filepath.Join(dir, "in")
		writeFile(t, path, []byte(text))
		want := ""
		for _, record := range regexp.MustCompile(`(?s)<p>.*?</p>`).FindAllString(text, -1) {
			want += record + "\t\n"
		}
		var splits []job.Split
		for at := int64(0); at < int64(len(text)); {
			n := min(rapid.Int64Range(1, 50).Draw(rt, "length"), int64(len(text))-at)
			splits = append(splits, job.Split{Ranges: []job.Range{{Path: path, Offset: at, Length: n, Size: int64(len(text))}}})
			at += n
		}
		spec := xmlSpec("<p>", "</p>")
		got, records, err := readAll(spec, splits)
		if err != nil || got != want || records != int64(strings.Count(want, "\t\n")) {
			rt.Fatalf("%q: got %q, %d records, %v", text, got, records, err)
		}
		packed := path + ".gz"
		zipped := gzipped(t, []byte(text))
		writeFile(t, packed, zipped)
		split := packedSplit(packed, len(zipped))
		if got, _, err := readAll(spec, []job.Split{split}); got != want || err != nil {
			rt.Fatalf("gzip: got %q, %v", got, err)
		}
	})
}
