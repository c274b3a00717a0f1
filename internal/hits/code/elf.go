package code

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io"
	"slices"
	"strings"
)

// Limits of the memory and time that a damaged or hostile file can cost, beside those of the process that analyses it.
const (
	maxBytes     = 1 << 30 // of the addresses of code
	maxFunctions = 1 << 18
	maxSteps     = 1 << 24 // entries of tables that are followed
)

// section is a section whose bytes were read.
type section struct {
	name     string
	from, to uint64 // addresses
	data     []byte
	exec     bool
	linkage  bool // code of the linker: PLT, init, fini
	symbols  bool // the table of symbols: its addresses are not known to the program's code
}

// image is the contents of an object before its functions are assessed.
type image struct {
	file    *elf.File
	buildID string
	catches bool      // its code catches exceptions
	locks   bool      // locks its memory
	writes  bool      // can make executable memory
	steps   int       // entries of tables that may still be followed
	code    []section // executable sections, by address
	data    []section // other sections that are part of the program's memory
	marks   marks     // addresses in code to which something may lead
	taken   marks     // addresses that code or data has, other than to branch there
	starts  map[uint64]*start
}

// open reads the headers and sections, and refuses unsuitable objects.
func open(r io.ReaderAt) (*image, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, NotELF
	}
	switch {
	case f.Machine != elf.EM_X86_64 || f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB:
		return nil, NotAMD64
	case f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN:
		return nil, NotLinked
	case len(f.Sections) == 0:
		return nil, NoSections
	}
	im := &image{file: f, steps: maxSteps, starts: map[uint64]*start{}}
	if err := im.refuse(); err != nil {
		return nil, err
	}
	if err := im.load(); err != nil {
		return nil, err
	}
	if im.ocaml() {
		return nil, Runtime
	}
	if im.buildID = BuildID(r); im.buildID == "" {
		im.buildID = im.hash()
	}
	return im, nil
}

// runtimes are libraries that cause faults on purpose and identify the instructions by their
// addresses.
var runtimes = []string{"libjvm.so", "libcoreclr.so", "libmono", "libasmrun", "libcamlrun"}

// refuse checks the reasons for which whole objects are refused.
func (im *image) refuse() error {
	for _, s := range im.file.Sections {
		switch {
		case s.Flags&elf.SHF_COMPRESSED != 0 && s.Flags&elf.SHF_ALLOC != 0:
			return Damaged // it could be of any size
		case s.Name == ".svm_heap":
			return Runtime // GraalVM
		case s.Name == ".go.buildinfo" || s.Name == ".gopclntab" || strings.HasSuffix(s.Name, ".gopclntab"):
			return GoProgram
		case s.Name == "__rseq_cs":
			return Restartable
		}
	}
	library, _ := im.file.DynString(elf.DT_SONAME)
	for _, name := range runtimes {
		if len(library) > 0 && strings.HasPrefix(library[0], name) {
			return Runtime
		}
	}
	own, _ := im.file.DynValue(elf.DT_TEXTREL) // none if it cannot be read
	flags, _ := im.file.DynValue(elf.DT_FLAGS)
	if len(own) > 0 || len(flags) > 0 && elf.DynFlag(flags[0])&elf.DF_TEXTREL != 0 {
		return TextRelocations
	}
	return nil
}

// ocaml reports whether the runtime of OCaml is in this object: it has the name of the variable with
// the runtime's parameters. Its handler of stack overflows asks whether the fault was in OCaml's code.
func (im *image) ocaml() bool {
	return slices.ContainsFunc(im.data, func(s section) bool { return bytes.Contains(s.data, []byte("OCAMLRUNPARAM\x00")) })
}

// load reads the sections that are part of the program's memory.
func (im *image) load() error {
	for _, s := range im.file.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || s.Type == elf.SHT_NOBITS || s.Size == 0 {
			continue
		}
		data, err := s.Data()
		if err != nil || s.Addr+s.Size < s.Addr {
			return Damaged
		}
		sec := section{name: s.Name, from: s.Addr, to: s.Addr + s.Size, data: data, exec: s.Flags&elf.SHF_EXECINSTR != 0}
		sec.linkage = s.Type != elf.SHT_PROGBITS || s.Flags&elf.SHF_WRITE != 0 || strings.HasPrefix(s.Name, ".plt") ||
			s.Name == ".init" || s.Name == ".fini" || strings.HasPrefix(s.Name, ".iplt")
		sec.symbols = s.Type == elf.SHT_DYNSYM
		if sec.exec {
			im.code = append(im.code, sec)
		} else {
			im.data = append(im.data, sec)
		}
	}
	return im.order()
}

// order sorts the sections of code. It refuses an object without code, or with overlapping sections.
func (im *image) order() error {
	if len(im.code) == 0 {
		return NoCode
	}
	slices.SortFunc(im.code, func(a, b section) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(im.code); i++ {
		if im.code[i].from < im.code[i-1].to {
			return Damaged
		}
	}
	lo, hi := im.code[0].from, im.code[len(im.code)-1].to
	if hi-lo > maxBytes {
		return TooLarge
	}
	im.marks, im.taken = newMarks(lo, hi), newMarks(lo, hi)
	return nil
}

// at returns the section of code that contains an address, or nil.
func (im *image) at(address uint64) *section {
	i, exact := slices.BinarySearchFunc(im.code, address, func(s section, a uint64) int { return cmp.Compare(s.from, a) })
	if !exact {
		i--
	}
	if i < 0 || address >= im.code[i].to {
		return nil
	}
	return &im.code[i]
}

// spend reports whether one more entry of a table may be followed. Overlapping tables could be
// followed without end.
func (im *image) spend() bool {
	im.steps--
	return im.steps >= 0
}

// bytes returns the bytes of a section from an address on.
func (s *section) bytes(from uint64) []byte { return s.data[from-s.from:] }

// hash identifies an object without a build-id by its code.
func (im *image) hash() string {
	sum := sha256.New()
	for _, s := range im.code {
		sum.Write(s.data)
	}
	return "text-" + hex.EncodeToString(sum.Sum(nil)[:20])
}
