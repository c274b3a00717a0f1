package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// writeTar writes an archive whose form is told by its name.
func writeTar(t *testing.T, dir, name string, files map[string]string) string {
	t.Helper()
	var headers []tar.Header
	var bodies []string
	for n, body := range files {
		headers = append(headers, tar.Header{Name: n, Mode: 0o644, Size: int64(len(body)), Typeflag: tar.TypeReg})
		bodies = append(bodies, body)
	}
	return writeMembers(t, dir, name, headers, bodies)
}

func writeMembers(t *testing.T, dir, name string, headers []tar.Header, bodies []string) string {
	t.Helper()
	var buf bytes.Buffer
	var packer io.WriteCloser
	switch {
	case strings.HasSuffix(name, "gz"):
		packer = gzip.NewWriter(&buf)
	case strings.HasSuffix(name, ".zst"):
		z, err := zstd.NewWriter(&buf)
		if err != nil {
			t.Fatal(err)
		}
		packer = z
	default:
		packer = nopCloser{&buf}
	}
	tw := tar.NewWriter(packer)
	for i := range headers {
		if err := tw.WriteHeader(&headers[i]); err != nil {
			t.Fatal(err)
		}
		if i < len(bodies) {
			if _, err := io.WriteString(tw, bodies[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packer.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func TestUnpackForms(t *testing.T) {
	files := map[string]string{"a": "1", "./b/c": "2", "/d": "3"}
	for _, name := range []string{"x.tar", "x.tgz", "x.TAR.GZ", "x.tar.zst"} {
		t.Run(name, func(t *testing.T) {
			dir, to := t.TempDir(), t.TempDir()
			packed := writeTar(t, dir, strings.ToLower(name), files)
			if err := os.Rename(packed, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			if err := Unpack(filepath.Join(dir, name), to); err != nil {
				t.Fatal(err)
			}
			checkUnpacked(t, to)
		})
	}
	t.Run("x.zip", func(t *testing.T) {
		dir, to := t.TempDir(), t.TempDir()
		path := filepath.Join(dir, "x.zip")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for n, body := range files {
			w, err := z.Create(n)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(w, body); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Unpack(path, to); err != nil {
			t.Fatal(err)
		}
		checkUnpacked(t, to)
	})
}

func checkUnpacked(t *testing.T, dir string) {
	t.Helper()
	for name, want := range map[string]string{"a": "1", "b/c": "2", "d": "3"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
}

// Nothing is written outside of the folder, by names or through links.
func TestUnpackStaysInside(t *testing.T) {
	tests := []struct {
		name    string
		headers []tar.Header
		bodies  []string
	}{
		{"dots", []tar.Header{{Name: "../evil", Mode: 0o644, Size: 4, Typeflag: tar.TypeReg}}, []string{"evil"}},
		{"dots below", []tar.Header{{Name: "a/../../evil", Mode: 0o644, Size: 4, Typeflag: tar.TypeReg}}, []string{"evil"}},
		{"through a link", []tar.Header{
			{Name: "out", Linkname: "..", Typeflag: tar.TypeSymlink},
			{Name: "out/evil", Mode: 0o644, Size: 4, Typeflag: tar.TypeReg},
		}, []string{"", "evil"}},
		{"over a link", []tar.Header{
			{Name: "evil", Linkname: "../evil", Typeflag: tar.TypeSymlink},
			{Name: "evil", Mode: 0o644, Size: 4, Typeflag: tar.TypeReg},
		}, []string{"", "evil"}},
		{"hard link to the outside", []tar.Header{{Name: "x", Linkname: "../secret", Typeflag: tar.TypeLink}}, nil},
		{"device", []tar.Header{{Name: "null", Typeflag: tar.TypeChar}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			above := t.TempDir()
			to := filepath.Join(above, "to")
			if err := os.Mkdir(to, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(above, "secret"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			packed := writeMembers(t, t.TempDir(), "x.tar", tt.headers, tt.bodies)
			err := Unpack(packed, to)
			if err == nil && tt.name != "over a link" {
				t.Error("it was unpacked")
			}
			if left, err := filepath.Glob(filepath.Join(above, "*")); err != nil || len(left) != 2 {
				t.Errorf("beside the folder there are now %v (%v)", left, err)
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.rar")
	if err := os.WriteFile(path, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Unpack(path, t.TempDir()); err == nil || !strings.Contains(err.Error(), ".tar.gz") {
		t.Errorf("got %v", err)
	}
}
