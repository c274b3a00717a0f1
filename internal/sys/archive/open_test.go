package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Archives are told by their names, walked file by file, and refused when nothing in them
// can be read.
func TestWalkAndCheck(t *testing.T) {
	var tarred, packed, zipped bytes.Buffer
	w, z, g := tar.NewWriter(&tarred), zip.NewWriter(&zipped), gzip.NewWriter(&packed)
	var errs []error
	for _, name := range []string{"a", "b/c"} {
		errs = append(errs, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1, Mode: 0o644}))
		_, err := io.WriteString(w, name[:1])
		in, zerr := z.Create(name)
		_, ierr := io.WriteString(in, name[:1])
		errs = append(errs, err, zerr, ierr)
	}
	errs = append(errs, w.Close(), z.Close())
	_, err := g.Write(tarred.Bytes())
	if err := errors.Join(append(errs, err, g.Close())...); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		data  []byte
		sound bool
	}{
		"x.tar": {tarred.Bytes(), true}, "x.tgz": {packed.Bytes(), true}, "x.ZIP": {zipped.Bytes(), true}, "x.jar": {zipped.Bytes(), true},
		"x.rar": {zipped.Bytes(), false}, "cut.tgz": {packed.Bytes()[:15], false}, "cut.tar": {tarred.Bytes()[:100], false},
		"cut.zip": {zipped.Bytes()[:50], false}, "none.tar.gz": {[]byte("text"), false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(path); (err == nil) != tt.sound {
			t.Errorf("%s: %v", name, err)
		}
		if !tt.sound {
			continue
		}
		var found []string
		err := Walk(path, func(name string, in io.Reader) bool {
			text, _ := io.ReadAll(in)
			found = append(found, name+"="+string(text))
			return true
		})
		if err != nil || !slices.Equal(found, []string{"a=a", "b/c=b"}) {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
	if err := Check(filepath.Join(dir, "missing.tar")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing archive: %v", err)
	}
}
