package code

import (
	"bytes"
	"testing"
)

// TestFunctionsWithoutSymbols checks that functions without symbols are found by the tables of the
// unwinder, which also distinguish parts of functions from functions by the contents of the stack at
// the first byte.
func TestFunctionsWithoutSymbols(t *testing.T) {
	code := machineCode(t, "55", "48 89 e5", "48 83 ec 20", "c9 c3")
	o := object(code, 0)
	o.symbols = nil
	frames := someFrames()
	o.extra = map[string][]byte{".eh_frame": frames}
	if f := o.analysed(t); f.Name != "0x401010" || len(f.Original) != 8 {
		t.Errorf("%+v", f)
	}
	inside := bytes.Clone(frames)
	copy(inside[bytes.Index(inside, []byte{0x41, 0x0e}):], []byte{0x0e, 0x10}) // the offset at once, without an advance
	o.extra[".eh_frame"] = inside
	if f := o.analysed(t); f.Reason != Fragment {
		t.Errorf("with something on the stack: %+v", f)
	}
	signal := bytes.Replace(frames, []byte("zR\x00\x01"), []byte("zRS\x00"), 1)
	o.extra[".eh_frame"] = signal
	if found, err := Analyse(bytes.NewReader(o.file())); err != nil {
		t.Error(err)
	} else if len(found.Functions) > 1 {
		t.Errorf("a damaged table: %+v", found.Functions)
	}
}

// TestBuildID checks that an object without a build-id is identified by a hash of its code.
func TestBuildID(t *testing.T) {
	o := object(machineCode(t, "55", "48 89 e5", "48 83 ec 20", "c9 c3"), 10)
	a, _ := Analyse(bytes.NewReader(o.file()))
	o.text[0x20]++
	b, _ := Analyse(bytes.NewReader(o.file()))
	if a.BuildID == b.BuildID || len(a.BuildID) != len("text-")+40 {
		t.Errorf("%s and %s", a.BuildID, b.BuildID)
	}
}
