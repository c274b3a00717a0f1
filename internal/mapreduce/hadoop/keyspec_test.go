package hadoop

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/internal/core/job"
)

// String writes the spec as Hadoop's KeyDescription does: "-k1.2,3.4nr".
func (k keySpec) String() string {
	s := fmt.Sprintf("-k%d.%d,%d.%d", k.beginField, k.beginChar, k.endField, k.endChar)
	if k.numeric {
		s += "n"
	}
	if k.reverse {
		s += "r"
	}
	return s
}

// The vectors are those of Hadoop's TestKeyFieldHelper.
func TestParseKeySpecs(t *testing.T) {
	for _, c := range []struct{ options, want string }{
		{"-k1.2,3.4", "-k1.2,3.4"},
		{"-k 1.2", "-k1.2,0.0"},
		{"-nr -k1.2,3.4", "-k1.2,3.4nr"},
		{"-nr -k1.2,3.4n", "-k1.2,3.4n"},
		{"-nr -k1.2,3.4r", "-k1.2,3.4r"},
		{"-nr -k1.2,3.4 -k5.6,7.8n -k9.10,11.12r -k13.14,15.16nr", "-k1.2,3.4nr -k5.6,7.8n -k9.10,11.12r -k13.14,15.16nr"},
		{"-k1.2n,3.4", "-k1.2,3.4n"},
		{"-k1.2r,3.4", "-k1.2,3.4r"},
		{"-k1.2nr,3.4", "-k1.2,3.4nr"},
		{"-k1.2n,3.4r", "-k1.2,3.4nr"},
		{"-k1.2,3.4nr", "-k1.2,3.4nr"},
		{"-n -k1.2,3.4 -k5.6,7.8", "-k1.2,3.4n -k5.6,7.8n"},
		{"-k1.2,3.4n -k5.6,7.8", "-k1.2,3.4n -k5.6,7.8"},
		{"-k5.6,7.8 -r", "-k5.6,7.8r"},
		{"-n", "-k1.1,0.0n"},
		{"-r", "-k1.1,0.0r"},
		{"-nr", "-k1.1,0.0nr"},
		{"-rn", "-k1.1,0.0nr"},
		{"-k2n", "-k2.1,0.0n"},
		{"  -k2\t-k3 ", "-k2.1,0.0 -k3.1,0.0"},
		{"", ""},
	} {
		ks, err := parseKeySpecs("options", c.options, "\t")
		if err != nil {
			t.Errorf("%q: %v", c.options, err)
			continue
		}
		if got := specsString(ks); got != c.want {
			t.Errorf("%q: got %q, want %q", c.options, got, c.want)
		}
	}
}

func specsString(ks keySpecs) string {
	var words []string
	for _, k := range ks.specs {
		words = append(words, k.String())
	}
	return strings.Join(words, " ")
}

func TestParseKeySpecsRefuses(t *testing.T) {
	for _, options := range []string{
		"-k", "-kx", "-k1.", "-k1.x", "-k1,", "-k1,x", "-k1,2.", "-k-1", "-k1,-2", "-k+1", "-k99999999999",
		"-k1z", "-k1n2", "-g", "k1", "-k1,2,3", "-k1.2.3", "-kn", "-k 1 2",
	} {
		_, err := parseKeySpecs("the.key", options, "")
		if job.CodeOf(err) != job.CodeConfig || job.ClassOf(err) != job.User {
			t.Errorf("%q: got %v, want a configuration error", options, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), "the.key: ") {
			t.Errorf("%q: %v does not name the key", options, err)
		}
	}
}

// The vectors are those of Hadoop's TestKeyFieldHelper, and where they are marked
// so, ours. A missing part is "-".
func TestKeyPart(t *testing.T) {
	for _, c := range []struct{ spec, sep, key, want string }{
		{"-k1,2", "\t", "hi\thello", "hi\thello"},
		{"-k1.0,0", "\t", "hi\thello", "-"},
		{"-k1,0", "\t", "hi\thello", "hi\thello"},
		{"-k1.2,0", "\t", "hi\thello", "i\thello"},
		{"-k1.1,2.3", "\t", "hi\thello", "hi\thel"},
		{"-k1.2,2.3", "\t", "hi\thello", "i\thel"},
		{"-k1.2,3.0", "\t", "hi\thello", "i\thello"},
		{"-k2,2", "\t", "hi\thello", "hello"},
		{"-k3.1,4.0", "\t", "hi\thello", "-"},
		{"-k2.1", "\t", "hi\thello\thow", "hello\thow"},
		{"-k2.1,3", "\t", "hi\thello\t\thow\tare", "hello\t"},
		{"-k2.1,3", "\t", "hi\thello", "hello"},
		// Ours.
		{"-k1.2,1.5", "\t", "abcdefgh\tx", "bcde"},
		{"-k1.2,1.5", "\t", "ab\txyz", "b\txy"}, // characters run on over the field's end, as in Hadoop
		{"-k2,2", "\t", "a\t\tb", ""},
		{"-k2,2", "\t", "a\t", "-"}, // an empty last field has no first character
		{"-k1,1", "\t", "", "-"},
		{"-k3,2", "\t", "a\tb\tc", ""}, // ends before it begins
		{"-k2,2", ", ", "a, bc, d", "bc"},
		{"-k2,2", "\x00", "a\x00\xff\xfe\x00", "\xff\xfe"},
		{"-k2,2.30", "\t", "a\tbcdefgh", "bcdefgh"},
		{"-k2.9,2", "\t", "a\tb\tc", "-"},
	} {
		ks, err := parseKeySpecs("options", c.spec, c.sep)
		if err != nil {
			t.Fatal(err)
		}
		got := "-"
		if part, ok := ks.part(&ks.specs[0], slices.Clip([]byte(c.key))); ok {
			got = string(part)
		}
		if got != c.want {
			t.Errorf("%s of %q: got %q, want %q", c.spec, c.key, got, c.want)
		}
	}
}

func FuzzKeySpecs(f *testing.F) {
	f.Add("-nr -k1.2,3.4 -k5", "\t", []byte("a\tb\tc"))
	f.Add("-k2n,2.0r", ", ", []byte("a, -12.5, c"))
	f.Add("-k0.0,0.0", "", []byte{0xff, 0})
	f.Fuzz(func(t *testing.T, options, sep string, key []byte) {
		key = slices.Clip(key) // so that reading beyond it is seen
		ks, err := parseKeySpecs("options", options, sep)
		if err != nil {
			return
		}
		for i := range ks.specs {
			ks.part(&ks.specs[i], key)
		}
		again, err := parseKeySpecs("options", specsString(ks), sep)
		if err != nil {
			t.Fatalf("%q was read as %q, which is refused: %v", options, specsString(ks), err)
		}
		if specsString(again) != specsString(ks) {
			t.Fatalf("%q was read as %q, and that as %q", options, specsString(ks), specsString(again))
		}
		spec := &job.MapReduceSpec{
			Comparator: "keyfield", ComparatorOptions: options,
			Partitioner: "keyfield", PartitionOptions: options, KeyFieldSeparator: sep,
		}
		cmp, err := NewComparator(spec)
		if err != nil {
			t.Fatal(err)
		}
		if r := cmp.Compare(key, key); r != 0 {
			t.Fatalf("%q compares to itself as %d", key, r)
		}
		cmp.Prefix(key)
		part, err := NewPartitioner(spec, 7)
		if err != nil {
			t.Fatal(err)
		}
		if p := part(key); p < 0 || p >= 7 {
			t.Fatalf("%q goes to partition %d of 7", key, p)
		}
	})
}
