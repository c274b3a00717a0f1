package statedir

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// TestFlippedJSON: whichever byte of a file changes, it is read as it was written or refused, and never as something else. Its path is named.
func TestFlippedJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "job.json")
	want := map[string]string{"command": "rm -r build", "dir": "/home/u", "": "é"}
	if err := WriteJSON(path, want); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil || !bytes.HasSuffix(whole, []byte("\"\n}\n")) || !bytes.Contains(whole, []byte(`"checksum": "`)) {
		t.Fatalf("the file is %q, %v", whole, err)
	}
	sum := bytes.Index(whole, []byte(`"checksum"`))
	for i := range whole {
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[i] ^= 1 << bit
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			var got map[string]string
			err := ReadJSON(path, &got)
			for name := range got { // a damaged name of the checksum is a member that nothing knows
				if _, known := want[name]; !known && i >= sum {
					delete(got, name)
				}
			}
			if err == nil && !reflect.DeepEqual(got, want) || err != nil && !strings.Contains(err.Error(), path) {
				t.Fatalf("bit %d of byte %d of\n%s: read as %q, %v", bit, i, whole, got, err)
			}
		}
	}
}

// TestJSON: what is written is read, whatever its type, and so is what an earlier version wrote without a checksum.
func TestJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, v := range []any{map[string]any{}, map[string]any{"a": "b"}, []any{"a", "b"}, []any{}, float64(7), nil, map[string]any{"checksum": "1234"}} {
		var got any
		if err := errors.Join(WriteJSON(path, v), ReadJSON(path, &got)); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%#v was read as %#v, %v", v, got, err)
		}
	}
	if err := os.WriteFile(path, []byte("{\n  \"command\": \"true\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := ReadJSON(path, &got); err != nil || got["command"] != "true" {
		t.Errorf("read as %q, %v", got, err)
	}
}

// TestDamagedSpec: a job whose command was changed is refused, and the error says what to do.
func TestDamagedSpec(t *testing.T) {
	r := open(t).Run("bag-1")
	spec := job.New(job.Bag, "/")
	spec.Bag.Command = []string{"echo", "seven"}
	if err := errors.Join(os.MkdirAll(r.Dir, 0o700), r.SaveSpec(spec)); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.spec())
	if err == nil {
		err = os.WriteFile(r.spec(), bytes.Replace(b, []byte("seven"), []byte("sevan"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var e *job.Error
	if _, err := r.Spec(); !errors.As(err, &e) || e.Where != r.spec() || e.Class != job.Fatal || !strings.Contains(e.Do, "submit the job again") ||
		!strings.Contains(err.Error(), "checksum") {
		t.Errorf("error %v", err)
	}
}
