package streaming

import (
	"archive/zip"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// A mapper that asks for its input file's name in a module of a zip file or an archive, or
// by a name that it puts together, is given one file at a time.
func TestInputNameIsFound(t *testing.T) {
	const asks, other = "import os\nos.environ['mapreduce_map_' + 'input_file']\n", "x = 1\n"
	zipped := func(text string) string {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		w, err := z.Create("mod/__init__.py")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, tt := range map[string]struct {
		file, text, flag string
		want             bool
	}{
		"zip file":               {"mod.zip", zipped(strings.ReplaceAll(asks, "map_' + '", "map_")), "-file", true},
		"zip file that does not": {"mod.zip", zipped(other), "-file", false},
		"egg":                    {"mod.egg", zipped("map_input_file"), "-files", true},
		"archive":                {"mod.tgz", packed(t, "mod.py", "map_input_start"), "-archives", true},
		"archive that does not":  {"mod.tgz", packed(t, "mod.py", other), "-archives", false},
		"zip as archive":         {"mod.zip", zipped("mapreduce.map.input.file"), "-archives", true},
		"put together":           {"m.py", "'_'.join(['mapreduce', 'map']) + '_input_file'", "-file", true},
	} {
		dir, env := userDir(t)
		write(t, filepath.Join(dir, tt.file), tt.text, 0o644)
		r, err := Parse([]string{tt.flag, tt.file, "-input", "words.txt", "-output", "out", "-mapper", "python3 map.py"}, dir, env)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := r.Spec.MapReduce.OneFilePerSplit; got != tt.want {
			t.Errorf("%s: one file a split: %v", name, got)
		}
	}
}

// An archive that cannot be unpacked is refused when the job is submitted.
func TestArchivesAreChecked(t *testing.T) {
	dir, env := userDir(t)
	good := packed(t, "a", strings.Repeat("text", 1000))
	for name, text := range map[string]string{
		"good.tgz": good, "none.tgz": "no archive\n", "cut.tgz": good[:20], "none.zip": "PK?", "none.tar": "x", "bad.rar": "Rar!", "empty.tgz": "",
	} {
		write(t, filepath.Join(dir, name), text, 0o644)
		for _, flag := range []string{"-archives", "-cacheArchive"} {
			_, err := Parse([]string{flag, name, "-input", "words.txt", "-output", "out", "-mapper", "cat"}, dir, env)
			if name == "good.tgz" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			if err == nil || job.CodeOf(err) != job.CodeConfig || !strings.Contains(err.Error(), name+" cannot be unpacked") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// The user's name is known where the environment does not say it.
func TestUserName(t *testing.T) {
	dir, env := userDir(t)
	r, err := Parse([]string{"-D", "who=${user.name}", "-input", "words.txt", "-output", "out", "-mapper", "cat"}, dir, env[:1])
	if err != nil {
		t.Fatal(err)
	}
	if who := r.Spec.MapReduce.Conf["who"]; who == "" || strings.Contains(who, "$") {
		t.Errorf("the user is %q", who)
	}
}
