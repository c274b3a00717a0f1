package swf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"berth/internal/simulate/workload"
)

// TestGzip checks that compressed text is recognized by its contents and may have several members,
// as from cat, and that damaged or truncated files are reported with the line.
func TestGzip(t *testing.T) {
	var text strings.Builder
	text.WriteString(header)
	for i := range 20000 {
		text.WriteString(with(1, i+1, 2, i*7, 6, fmt.Sprint(i*i%997, ".", i%10)))
	}
	plain := text.String()
	want := mustRead(t, plain, Options{})
	whole := squeeze(t, plain)
	for name, b := range map[string][]byte{
		"whole": whole, "in two": append(squeeze(t, plain[:777777]), squeeze(t, plain[777777:])...),
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !reflect.DeepEqual(l.Jobs, want.Jobs) || !slices.Equal(l.Header, want.Header) {
			t.Errorf("%s: another log", name)
		}
	}
	cut := lastError(Read(bytes.NewReader(whole[:len(whole)/2]), "toy.swf.gz", Options{Odd: workload.Skip}))
	isBad(t, "cut off", cut, "toy.swf.gz:")
	if !strings.Contains(cut.Error(), "the compressed file ends here") || strings.HasPrefix(cut.Error(), "toy.swf.gz:1:") {
		t.Errorf("cut off: %v", cut)
	}
	isBad(t, "cut in its head", lastError(Read(bytes.NewReader(whole[:5]), "toy.swf.gz", Options{})), "toy.swf.gz:1: the compressed file ends here")
	isBad(t, "cut in its checksum", lastError(Read(bytes.NewReader(whole[:len(whole)-3]), "toy.swf.gz", Options{})), "toy.swf.gz:20006: the compressed file ends here")
	for name, at := range map[string]int{"checksum": len(whole) - 6, "middle": len(whole) / 2} {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x55
		err := lastError(Read(bytes.NewReader(damaged), "toy.swf.gz", Options{Odd: workload.Skip}))
		isBad(t, name, err, "toy.swf.gz:")
	}
	isBad(t, "garbled", lastError(Read(bytes.NewReader(garbled(t, plain)), "toy.swf.gz", Options{})), "toy.swf.gz:103: the compressed file is damaged, here or before: gzip: invalid checksum; get the file again")
	odd := squeeze(t, header+line2+line1+strings.Repeat(line2, 1000))
	isBad(t, "odd", lastError(Read(bytes.NewReader(odd), "toy.swf.gz", Options{})), "toy.swf.gz:7: submitted at 10 s")
	isBad(t, "odd and cut off", lastError(Read(bytes.NewReader(odd[:len(odd)-4]), "toy.swf.gz", Options{})), "toy.swf.gz:7: submitted at 10 s")
	isBad(t, "rubbish behind", lastError(Read(bytes.NewReader(append(slices.Clone(whole), line1...)), "toy.swf.gz", Options{})), "toy.swf.gz:20006: the compressed file is damaged")
}

// garbled returns a compressed log in which a digit of a line was turned into a letter after
// compression.
func garbled(t *testing.T, plain string) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(z, plain)
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b.Bytes(), []byte("\n98 "))
	b.Bytes()[at+1] = 'x'
	return b.Bytes()
}
