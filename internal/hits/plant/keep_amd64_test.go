package plant

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestKept checks that an analysed object is read from disk as it was written.
func TestKept(t *testing.T) {
	f, err := os.Open("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	o, err := analyse(io.NewSectionReader(f, 0, st.Size()))
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Functions) == 0 {
		t.Fatal("no functions were found")
	}
	path := filepath.Join(t.TempDir(), "objects", "sh")
	write(path, o)
	if got := read(path); !reflect.DeepEqual(got, o) {
		t.Errorf("read %+v, wrote %+v", got, o)
	}
}
