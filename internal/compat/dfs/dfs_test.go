package dfs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPath: only hdfs: and file: URIs name files, and none leads out of the root.
func TestPath(t *testing.T) {
	for _, tt := range []struct{ uri, root, want string }{
		{"a/b", "/r", "a/b"},
		{"/a/b:c", "/r", "/a/b:c"},
		{"a:b", "/r", "a:b"},
		{"file:/a/b", "/r", "/a/b"},
		{"file:///a/b%20c", "/r", "/a/b c"},
		{"hdfs:///a/*.txt", "/r", "/r/a/*.txt"},
		{"hdfs://host:8020/a", "/r", "/r/a"},
		{"hdfs:///../../etc", "/r", "/r/etc"},
		{"hdfs:///a/%2e%2e/%2e%2e/etc", "/r", "/r/etc"},
		{"hdfs://", "/r", "/r"},
		{"hdfs:///a", "", ""},
		{"s3://bucket/a", "/r", ""},
		{"file:///a%zz", "/r", ""},
	} {
		got, err := Path(tt.uri, tt.root)
		if got != tt.want && tt.want != "" || (err != nil) != (tt.want == "") {
			t.Errorf("Path(%q, %q) = %q, %v; want %q", tt.uri, tt.root, got, err, tt.want)
		}
	}
}

// TestShell runs command lines, each on what the ones before left. $D is the folder of the machine; dates and owners are left out.
func TestShell(t *testing.T) {
	root, local := t.TempDir(), t.TempDir()
	stamp := regexp.MustCompile(`(?m)^(\S+ +\S+) \S+ \S+ +(\S+) \d{4}-\d\d-\d\d \d\d:\d\d `)
	if err := os.WriteFile(filepath.Join(local, "a.txt"), []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line, in string
		code     int
		want     string // of standard output and error
	}{
		{"-mkdir -p hdfs:///d/e", "", 0, ""},
		{"-mkdir hdfs:///d", "", 1, "mkdir: `hdfs:///d': File exists\n"},
		{"-put $D/a.txt hdfs:///d/e", "", 0, ""},
		{"-put $D/a.txt hdfs:///d/e", "", 1, "put: `hdfs:///d/e/a.txt': File exists\n"},
		{"-put -f $D/a.txt hdfs:///d/e/", "", 0, ""},
		{"-put - hdfs:///d/b.txt", "two\n", 0, ""},
		{"-put $D/a.txt hdfs:///x/y/z", "", 1, "put: `hdfs:///x/y': No such file or directory\n"},
		{"-ls hdfs:///d", "", 0, "Found 2 items\n-rw-r--r--   1 4 hdfs:///d/b.txt\ndrwxr-xr-x   - 0 hdfs:///d/e\n"},
		{"-ls -R hdfs://h/d", "", 0, "-rw-r--r--   1 4 hdfs://h/d/b.txt\ndrwxr-xr-x   - 0 hdfs://h/d/e\n-rw-r--r--   1 4 hdfs://h/d/e/a.txt\n"},
		{"-ls -C hdfs:///*/{a,b}.*", "", 0, "hdfs:///d/b.txt\n"},
		{"-ls hdfs:///none", "", 1, "ls: `hdfs:///none': No such file or directory\n"},
		{"-ls $D", "", 0, "Found 1 items\n-rw-r--r--   1 4 $D/a.txt\n"},
		{"-cat hdfs:///d/b.txt file://$D/a.txt", "", 0, "two\none\n"},
		{"-cat hdfs:///d", "", 1, "cat: `hdfs:///d': Is a directory\n"},
		{"-tail hdfs:///d/b.txt", "", 0, "two\n"},
		{"-du hdfs:///d", "", 0, "4  4  hdfs:///d/b.txt\n4  4  hdfs:///d/e\n"},
		{"-du -s hdfs:///d", "", 0, "8  8  hdfs:///d\n"},
		{"-count hdfs:///d", "", 0, "           2            2                  8 hdfs:///d\n"},
		{"-test -d hdfs:///d", "", 0, ""},
		{"-test -f hdfs:///d", "", 1, ""},
		{"-test -e hdfs:///none", "", 1, ""},
		{"-touchz hdfs:///d/empty", "", 0, ""},
		{"-test -z hdfs:///d/empty", "", 0, ""},
		{"-mv hdfs:///d/empty hdfs:///d/e", "", 0, ""},
		{"-cp hdfs:///d hdfs:///copy", "", 0, ""},
		{"-getmerge hdfs:///d/e $D/merged", "", 0, ""},
		{"-copyToLocal hdfs:///copy/e/* $D", "", 1, "copyToLocal: `$D/a.txt': File exists\n"},
		{"-ls -C $D", "", 0, "$D/a.txt\n$D/empty\n$D/merged\n"},
		{"-rm hdfs:///d", "", 1, "rm: `hdfs:///d': Is a directory\n"},
		{"-rm -r hdfs:///none", "", 1, "rm: `hdfs:///none': No such file or directory\n"},
		{"-rm -R -f -skipTrash hdfs:///none hdfs:///d", "", 0, "Deleted hdfs:///d\n"},
		{"-rm -r hdfs:///", "", 1, "rm: `hdfs:///': the root of a file system is not removed\n"},
		{"-ls -C hdfs:///", "", 0, "hdfs:///copy\n"},
		{"-ls s3://bucket/d", "", 1, "ls: \"s3://bucket/d\" is not on a file system of this machine\n"},
		{"-ls -x", "", 255, "-ls: Illegal option -x\n"},
		{"-cp a", "", 255, "-cp: Not enough arguments: expected 2 but got 1\n"},
	} {
		var out bytes.Buffer
		s := Shell{Root: root, In: strings.NewReader(tt.in), Out: &out, Err: &out}
		code := s.Run(strings.Fields(strings.ReplaceAll(tt.line, "$D", local)))
		got := strings.ReplaceAll(stamp.ReplaceAllString(out.String(), "$1 $2 "), local, "$D")
		if code != tt.code || got != tt.want {
			t.Errorf("%s: exit code %d\n%swant %d\n%s", tt.line, code, got, tt.code, tt.want)
		}
	}
	if got, err := os.ReadFile(filepath.Join(local, "merged")); err != nil || string(got) != "one\n" {
		t.Errorf("merged: %q, %v", got, err)
	}
	var out bytes.Buffer
	if s := (Shell{Out: &out, Err: &out}); s.Run([]string{"-setfacl"}) != 255 || !strings.Contains(out.String(), "Unknown command: berth has -cat") {
		t.Errorf("an unknown command: %s", out.String())
	}
}
