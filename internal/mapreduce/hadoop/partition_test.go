package hadoop

import (
	"math"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"berth/internal/core/job"
)

// javaHash is WritableComparator.hashBytes as written there, on int32.
func javaHash(h int32, key []byte) int32 {
	for _, b := range key {
		h = 31*h + int32(int8(b))
	}
	return h
}

func TestHash31IsJavas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.Int32().Draw(t, "h")
		key := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "key")
		if got, want := hash31(uint32(h), key), uint32(javaHash(h, key)); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

// The hashes follow Text.hashCode: 1 to begin with, then 31·h + b over signed bytes.
func TestHashPartitioner(t *testing.T) {
	for _, c := range []struct {
		key  string
		hash int32
	}{
		{"", 1},
		{"a", 128},
		{"hello", 127791473},
		{"the quick brown fox jumps", -1229084281},
		{"\x00", 31},
		{"\xff\xfe", 961 - 31 - 2},
		{"naïve café", -2060155363},
	} {
		if got := int32(hash31(1, []byte(c.key))); got != c.hash {
			t.Errorf("%q: hash %d, want %d", c.key, got, c.hash)
		}
		for _, n := range []int{1, 2, 7, 1000} {
			part, err := NewPartitioner(&job.MapReduceSpec{Partitioner: "hash"}, n)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := part([]byte(c.key)), int(c.hash&math.MaxInt32)%n; got != want {
				t.Errorf("%q over %d: got %d, want %d", c.key, n, got, want)
			}
		}
	}
}

// The vectors are those of Hadoop's TestMRKeyFieldBasedPartitioner; want lists the
// parts whose bytes are hashed one after the other from 0.
func TestKeyFieldPartitioner(t *testing.T) {
	for _, c := range []struct {
		options string
		fields  int
		key     string
		want    []string
	}{
		{"", 10, "", nil},
		{"-k2,2", 0, "abc\tdef\txyz", []string{"def"}},
		{"-k2,5", 0, "abc\tdef\txyz", []string{"def\txyz"}},
		{"-k2", 0, "abc\tdef\txyz", []string{"def\txyz"}},
		{"-k10", 0, "abc\tdef\txyz", nil},
		{"-k2,2 -k4,4", 0, "abc\tdef\tpqr\txyz", []string{"def", "xyz"}},
		{"-k2,2 -k30,21 -k4,4 -k5", 0, "abc\tdef\tpqr\txyz", []string{"def", "xyz"}},
		// Ours.
		{"-k1,2", 0, "abc\tdef\tpqr", []string{"abc\tdef"}},
		{"", 2, "abc\tdef\tpqr", []string{"abc\tdef"}},
		{"-k3", 2, "abc\tdef\tpqr", []string{"abc\tdef"}}, // the number of fields goes first
		{"-k1.2,1.5", 0, "abcdefgh\tx", []string{"bcde"}},
		{"-n", 0, "abc\tdef", []string{"abc\tdef"}},
	} {
		const n = 10
		part, err := NewPartitioner(&job.MapReduceSpec{
			Partitioner: "keyfield", PartitionOptions: c.options, PartitionFields: c.fields,
		}, n)
		if err != nil {
			t.Fatal(err)
		}
		var h int32
		for _, p := range c.want {
			h = javaHash(h, []byte(p))
		}
		if got, want := part([]byte(c.key)), int(h&math.MaxInt32)%n; got != want {
			t.Errorf("%q, %d fields: %q: got %d, want %d", c.options, c.fields, c.key, got, want)
		}
	}
}

// Without fields, KeyFieldBasedPartitioner takes the hash of the key as a Java string.
func TestKeyFieldPartitionerWithoutFields(t *testing.T) {
	part, err := NewPartitioner(&job.MapReduceSpec{Partitioner: "keyfield"}, math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key  string
		hash int
	}{{"hello", 99162322}, {"abc\tdef\txyz", 1209167022}, {"", 0}} {
		if got := part([]byte(c.key)); got != c.hash {
			t.Errorf("%q: got %d, want %d", c.key, got, c.hash)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.String().Draw(t, "key")
		var h int32
		for _, u := range utf16.Encode([]rune(key)) {
			h = 31*h + int32(u)
		}
		if got, want := part([]byte(key)), int(h&math.MaxInt32)%math.MaxInt32; got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

func TestNewPartitionerRefuses(t *testing.T) {
	for _, spec := range []job.MapReduceSpec{{Partitioner: "random"}, {Partitioner: "keyfield", PartitionOptions: "-k"}} {
		if _, err := NewPartitioner(&spec, 2); job.CodeOf(err) != job.CodeConfig {
			t.Errorf("%+v: got %v, want a configuration error", spec, err)
		}
	}
}

func BenchmarkPartition(b *testing.B) {
	key := make([]byte, 100)
	for i := range key {
		key[i] = byte(' ' + i%90)
	}
	for _, c := range []struct {
		name string
		spec job.MapReduceSpec
		key  []byte
	}{
		{"hash-10", job.MapReduceSpec{}, key[:10]},
		{"hash-100", job.MapReduceSpec{}, key},
		{"keyfield-k2", job.MapReduceSpec{Partitioner: "keyfield", PartitionOptions: "-k2,2"}, []byte("host-17\t123456.25\tGET")},
	} {
		b.Run(c.name, func(b *testing.B) {
			part, err := NewPartitioner(&c.spec, 7)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(c.key)))
			sum := 0
			for b.Loop() {
				sum += part(c.key)
			}
			if sum < 0 {
				b.Fatal(sum)
			}
		})
	}
}
