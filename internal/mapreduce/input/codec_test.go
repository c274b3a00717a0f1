package input

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// packed returns data compressed by a codec.
func packed(t fataler, c *Codec, data []byte) []byte {
	var b bytes.Buffer
	w, err := c.Writer(&b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// codecText is large enough for several blocks of each codec.
var codecText = []byte(strings.Repeat("the quick brown fox jumps over the lazy dog\t0123456789\n", 30_000) + "no newline")

func TestCodecs(t *testing.T) {
	dir := t.TempDir()
	for i := range codecs {
		c := &codecs[i]
		whole := packed(t, c, codecText)
		for _, f := range []struct {
			name string
			data []byte
			want string
		}{
			{"one", whole, completed(codecText)},
			{"empty", nil, ""},
			{"nothing", packed(t, c, nil), ""},
			{"members", append(packed(t, c, []byte("a\nb")), whole...), "a\nb" + completed(codecText)},
		} {
			path := filepath.Join(dir, f.name+c.Suffix)
			writeFile(t, path, f.data)
			var prog tally
			got := readSplit(t, packedSplit(path, len(f.data)), &job.MapReduceSpec{}, &prog)
			if got != f.want {
				t.Errorf("%s: got %d bytes, want %d", path, len(got), len(f.want))
			}
			if size := int64(len(f.data)); prog.bytes > size || prog.total != size || prog.records != int64(strings.Count(f.want, "\n")) {
				t.Errorf("%s: reported %+v of %d bytes", path, prog, size)
			}
		}
	}
}

func packedSplit(path string, size int) job.Split {
	return job.Split{Ranges: []job.Range{{Path: path, Length: -1, Size: int64(size)}}}
}

func TestBrokenPackedInput(t *testing.T) {
	dir := t.TempDir()
	for i := range codecs {
		c := &codecs[i]
		whole := packed(t, c, codecText)
		flipped := bytes.Clone(whole)
		at := len(flipped) / 2
		if c.Name == "snappy" {
			at = 4 // a chunk's length, as Snappy has no checksums
		}
		flipped[at] ^= 0x10
		for _, f := range []struct {
			name, want string
			data       []byte
		}{
			{"cut", "is cut off", whole[:len(whole)-1]},
			{"half", "is cut off", whole[:len(whole)/2]},
			{"flipped", "is damaged", flipped},
			{"plain", "is damaged, or is not a " + c.Name + " file", codecText},
			{"few bytes", "is damaged, or is not a " + c.Name + " file", []byte("a\n")},
		} {
			path := filepath.Join(dir, f.name+c.Suffix)
			writeFile(t, path, f.data)
			_, err := tryReadSplit(packedSplit(path, len(f.data)), &job.MapReduceSpec{}, nil)
			if job.ClassOf(err) != job.User || job.CodeOf(err) != job.CodeIO ||
				!strings.Contains(fmt.Sprint(err), f.want) || !strings.Contains(fmt.Sprint(err), path) {
				t.Errorf("%s: got %v, want a user error with %q", path, err, f.want)
			}
		}
	}
}

func TestCodecNamed(t *testing.T) {
	if c, err := CodecNamed(""); c != nil || err != nil {
		t.Errorf("none: got %v, %v", c, err)
	}
	if _, err := CodecNamed("lzo"); job.CodeOf(err) != job.CodeConfig {
		t.Errorf("lzo: got %v", err)
	}
	for path, want := range map[string]string{"a.gz": "gzip", "a.tar.zst": "zstd", "a.bz2": "bzip2", "gz": "", "a.GZ": "gzip", "A.Tar.Zst": "zstd", "a.gz.txt": ""} {
		got := ""
		if c := codecOf(path); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
}
