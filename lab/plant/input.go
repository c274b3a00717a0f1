package main

import (
	"bytes"
	"embed"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// seed is the seed of all inputs.
const seed = 12

// scripts are the inputs written by hand: small programs for interpreters and compilers, and
// documents.
//
//go:embed files
var scripts embed.FS

// inputTime is the modification time of each input, which archives store.
var inputTime = time.Date(2020, 2, 2, 2, 2, 2, 0, time.UTC)

// inputs returns all files that cases may name.
func inputs() (map[string][]byte, error) {
	r := rand.New(rand.NewPCG(seed, seed))
	all := map[string][]byte{}
	texts(r, all)
	pictures(r, all)
	sequences(r, all)
	entries, err := fs.ReadDir(scripts, "files")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if all[e.Name()], err = scripts.ReadFile("files/" + e.Name()); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// placeInputs writes the inputs that a case names into its folder.
func placeInputs(dir string, c *testCase, all map[string][]byte) error {
	for name, content := range all {
		if !c.mentions(name) {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o755); err != nil {
			return err
		}
		if err := os.Chtimes(path, inputTime, inputTime); err != nil {
			return err
		}
	}
	return nil
}

func texts(r *rand.Rand, all map[string][]byte) {
	vocabulary := make([]string, 2000)
	for i := range vocabulary {
		for range 1 + r.IntN(4) {
			vocabulary[i] += string("bcdfghklmnprstvw"[r.IntN(16)]) + string("aeiou"[r.IntN(5)])
		}
	}
	text := prose(r, vocabulary, 4000)
	all["text.txt"] = []byte(text)
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	for range 40 {
		lines[r.IntN(len(lines))] = "another line, put in for diff\n"
	}
	all["other.txt"] = []byte(strings.Join(lines, ""))
	all["short.txt"] = []byte(strings.Join(lines[:30], ""))
	slices.Sort(vocabulary)
	vocabulary = slices.Compact(vocabulary)
	all["words.txt"] = []byte(strings.Join(vocabulary, "\n") + "\n")
	var halves [2]strings.Builder
	for _, w := range vocabulary {
		n := r.IntN(3)
		for i := range halves {
			if n != i {
				fmt.Fprintln(&halves[i], w, r.IntN(100))
			}
		}
	}
	all["left.txt"], all["right.txt"] = []byte(halves[0].String()), []byte(halves[1].String())
	numbers(r, vocabulary, all)
}

func prose(r *rand.Rand, vocabulary []string, lines int) string {
	var b strings.Builder
	for range lines {
		for range 4 + r.IntN(8) {
			b.WriteString(vocabulary[int(float64(len(vocabulary))*math.Pow(r.Float64(), 3))] + " ")
		}
		fmt.Fprintln(&b, r.IntN(1000))
	}
	return b.String()
}

func numbers(r *rand.Rand, vocabulary []string, all map[string][]byte) {
	var n, csv, tsv, js, xml strings.Builder
	csv.WriteString("id,name,amount,kind\n")
	xml.WriteString("<?xml version=\"1.0\"?>\n<items>\n")
	js.WriteString("[")
	for i := range 1500 {
		name, amount, kind := vocabulary[r.IntN(len(vocabulary))], r.IntN(100000), vocabulary[r.IntN(5)]
		fmt.Fprintln(&n, amount)
		fmt.Fprintf(&csv, "%d,%s,%d,%s\n", i, name, amount, kind)
		fmt.Fprintf(&tsv, "%d\t%s\t%d\t%s\n", i, name, amount, kind)
		fmt.Fprintf(&xml, "<item id=\"%d\"><name>%s</name><amount>%d</amount></item>\n", i, name, amount)
		if i > 0 {
			js.WriteString(",\n")
		}
		fmt.Fprintf(&js, `{"id":%d,"name":%q,"amount":%d,"kind":[%q]}`, i, name, amount, kind)
	}
	all["numbers.txt"], all["table.csv"], all["table.tsv"] = []byte(n.String()), []byte(csv.String()), []byte(tsv.String())
	all["data.json"], all["data.xml"] = []byte(js.String()+"]\n"), []byte(xml.String()+"</items>\n")
	random := make([]byte, 100_000)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	all["random.bin"] = random
	var cnf strings.Builder
	fmt.Fprintln(&cnf, "p cnf 60 240")
	for range 240 {
		for range 3 {
			fmt.Fprint(&cnf, (1+r.IntN(60))*(1-2*r.IntN(2)), " ")
		}
		fmt.Fprintln(&cnf, 0)
	}
	all["problem.cnf"] = []byte(cnf.String())
}

const width, height = 160, 120 // of pictures, in pixels

func pictures(r *rand.Rand, all map[string][]byte) {
	colour := func(phase float64) []byte {
		b := fmt.Appendf(nil, "P6\n%d %d\n255\n", width, height)
		for y := range height {
			for x := range width {
				for c := range 3 {
					v := 128 + 90*math.Sin(float64(x)/17+phase+float64(c))*math.Cos(float64(y)/13) + float64(r.IntN(20))
					b = append(b, byte(v))
				}
			}
		}
		return b
	}
	all["picture.ppm"], all["second.ppm"] = colour(0), colour(1)
	grey := fmt.Appendf(nil, "P5\n%d %d\n255\n", width, height)
	bits := fmt.Appendf(nil, "P1\n%d %d\n", width, height)
	for i := range width * height {
		v := byte(128 + 100*math.Sin(float64(i%width)/9+float64(i/width)/7))
		grey = append(grey, v)
		bits = append(bits, '0'+v>>7)
		if i%60 == 59 {
			bits = append(bits, '\n')
		}
	}
	all["grey.pgm"], all["bits.pbm"] = grey, bits
	all["tone.wav"] = wave()
}

// wave returns a second of two tones at 22,050 Hz as a WAV file of 16 bits, mono.
func wave() []byte {
	const rate = 22050
	var samples bytes.Buffer
	for i := range rate {
		t := float64(i) / rate
		v := int16(9000*math.Sin(2*math.Pi*440*t) + 7000*math.Sin(2*math.Pi*880*t*(1+t/10)))
		_ = binary.Write(&samples, binary.LittleEndian, v) // writes to memory cannot fail
	}
	head := make([]byte, 44)
	copy(head, "RIFF____WAVEfmt ____")
	copy(head[36:], "data")
	for _, f := range []struct{ at, bytes, value int }{{4, 4, 36 + samples.Len()}, {16, 4, 16}, {20, 2, 1}, {22, 2, 1}, {24, 4, rate}, {28, 4, rate * 2}, {32, 2, 2}, {34, 2, 16}, {40, 4, samples.Len()}} {
		for i := range f.bytes {
			head[f.at+i] = byte(f.value >> (8 * i))
		}
	}
	return append(head, samples.Bytes()...)
}
