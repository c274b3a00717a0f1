package plant

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/hits/code"
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
	o, err := code.Analyse(io.NewSectionReader(f, 0, st.Size()))
	if err != nil {
		t.Fatal(err)
	}
	if b := code.BuildID(f); b != o.BuildID || b == "" {
		t.Errorf("its build-id is %s, and %q in its file", o.BuildID, b)
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
	if got := read(path); got == nil || !reflect.DeepEqual(got.Object, o) {
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

// TestHostile checks that files whose headers have many long names, or many sections with the same bytes, do not cost this process
// memory, and are refused.
func TestHostile(t *testing.T) {
	const sections, size = 4000, 1 << 20
	for what, s := range map[string]elf.Section64{
		"names": {Type: uint32(elf.SHT_STRTAB)},
		"bytes": {Type: uint32(elf.SHT_PROGBITS), Name: size - 1, Flags: uint64(elf.SHF_ALLOC)},
	} {
		file := make([]byte, 64+sections*64+size)
		h := elf.Header64{Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: 64, Ehsize: 64, Shentsize: 64, Shnum: sections, Shstrndx: 1}
		copy(h.Ident[:], "\x7fELF\x02\x01\x01")
		s.Off, s.Size = 64+sections*64, size
		encoded := func(at int, v any) {
			if _, err := binary.Encode(file[at:], binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
		encoded(0, h)
		for i := range sections {
			encoded(64+i*64, s)
		}
		s.Type, s.Flags = uint32(elf.SHT_STRTAB), 0
		encoded(64+64, s)
		copy(file[s.Off:], bytes.Repeat([]byte("x"), size-1))
		path := filepath.Join(t.TempDir(), "hostile")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (&Planter{Dir: t.TempDir()}).open(path, nil); err == nil || !strings.Contains(err.Error(), "too much memory") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
