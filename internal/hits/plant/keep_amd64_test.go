package plant

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
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
	if b := hex.EncodeToString(buildID(f)); b != o.BuildID {
		t.Errorf("its build-id is %s, and %s by its segments", o.BuildID, b)
	}
	if len(o.Functions) == 0 {
		t.Fatal("no functions were found")
	}
	var text bytes.Buffer
	if err := encode(&text, o); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "objects", "sh")
	write(path, text.Bytes())
	if got := read(path); !reflect.DeepEqual(got, o) {
		t.Errorf("read %+v, wrote %+v", got, o)
	}
}

// TestClean checks that the oldest of the kept objects are removed, and no more than is necessary.
func TestClean(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"c", "a", "b"} {
		path, at := filepath.Join(dir, name), time.Unix(int64(i), 0)
		if err := errors.Join(os.WriteFile(path, make([]byte, 100), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	clean(dir, 250)
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 2 || filepath.Base(left[0]) != "a" {
		t.Errorf("%v are left", left)
	}
}

// TestHostile checks that a file whose headers have many long names does not cost this process memory,
// and is refused.
func TestHostile(t *testing.T) {
	const sections, names = 4000, 1 << 20
	file := make([]byte, 64+sections*64+names)
	h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: 64, Ehsize: 64, Shentsize: 64, Shnum: sections, Shstrndx: 1}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	s := elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: 64 + sections*64, Size: names}
	for i := range sections { // all have the name of the whole table
		if _, err := binary.Encode(file[64+i*64:], binary.LittleEndian, s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := binary.Encode(file, binary.LittleEndian, h); err != nil {
		t.Fatal(err)
	}
	copy(file[s.Off:], bytes.Repeat([]byte("x"), names-1))
	path := filepath.Join(t.TempDir(), "hostile")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Planter{}).objects.open(t.TempDir(), path, nil); err == nil || !strings.Contains(err.Error(), "too much memory") {
		t.Errorf("%v", err)
	}
}
