package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// sequences makes the inputs of bioinformatics programs: a genome of 12,000 bases, reads of it,
// pairs of reads, and a family of proteins.
func sequences(r *rand.Rand, all map[string][]byte) {
	genome := letters(r, "ACGT", 12000)
	all["genome.fa"] = fasta("genome", genome)
	all["part.fa"] = fasta("part", genome[3000:3400]+letters(r, "ACGT", 20)+genome[3400:4000])
	var fa, fq, one, two strings.Builder
	for i := range 1500 {
		at := r.IntN(len(genome) - 300)
		read, mate := genome[at:at+100], reverse(genome[at+200:at+300])
		fmt.Fprintf(&fa, ">r%d\n%s\n", i, read)
		fastq(&fq, i, mutate(r, read, "ACGT", 0.005))
		if i < 500 {
			fastq(&one, i, read)
			fastq(&two, i, mate)
		}
	}
	all["reads.fa"], all["reads.fq"] = []byte(fa.String()), []byte(fq.String())
	all["one.fq"], all["two.fq"] = []byte(one.String()), []byte(two.String())
	const acids = "ACDEFGHIKLMNPQRSTVWY"
	first := letters(r, acids, 180)
	var proteins, genes strings.Builder
	for i := range 12 {
		fmt.Fprintf(&proteins, ">p%d\n%s\n", i, mutate(r, first, acids, 0.15))
		fmt.Fprintf(&genes, ">g%d\n%s\n", i, mutate(r, genome[5000:5600], "ACGT", 0.05))
	}
	all["proteins.fa"], all["genes.fa"] = []byte(proteins.String()), []byte(genes.String())
	var bed strings.Builder
	for i := range 200 {
		fmt.Fprintf(&bed, "genome\t%d\t%d\tf%d\t%d\t+\n", i*50, i*50+20+r.IntN(60), i, r.IntN(100))
	}
	all["places.bed"] = []byte(bed.String())
}

func letters(r *rand.Rand, from string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = from[r.IntN(len(from))]
	}
	return string(b)
}

// mutate replaces each letter with the given probability.
func mutate(r *rand.Rand, s, from string, p float64) string {
	b := []byte(s)
	for i := range b {
		if r.Float64() < p {
			b[i] = from[r.IntN(len(from))]
		}
	}
	return string(b)
}

// reverse returns the reverse complement.
func reverse(s string) string {
	b := make([]byte, len(s))
	for i := range s {
		b[len(s)-1-i] = "TGCA"[strings.IndexByte("ACGT", s[i])]
	}
	return string(b)
}

func fasta(name, s string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, ">%s\n", name)
	for ; s != ""; s = s[min(60, len(s)):] {
		b.WriteString(s[:min(60, len(s))] + "\n")
	}
	return []byte(b.String())
}

func fastq(b *strings.Builder, i int, read string) {
	fmt.Fprintf(b, "@r%d\n%s\n+\n%s\n", i, read, strings.Repeat("I", len(read)))
}

// reads returns reads of 100 bases from a random genome.
func reads(r *rand.Rand, bases, n int) []byte {
	genome := letters(r, "ACGT", bases)
	var b strings.Builder
	for i := range n {
		at := r.IntN(bases - 100)
		fmt.Fprintf(&b, ">r%d\n%s\n", i, mutate(r, genome[at:at+100], "ACGT", 0.002))
	}
	return []byte(b.String())
}
