package code

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"
	"strings"
)

// start is the beginning of a function, from a symbol, an FDE or both.
type start struct {
	frame    // its size is that of the FDE, or else of the symbol; 0: unknown
	name     string
	resolver bool
	symbol   bool
}

// symbols reads .symtab and .dynsym: functions become starts, and all addresses in code are marked.
func (im *image) symbols() {
	im.writes = im.file.SectionByType(elf.SHT_DYNSYM) == nil || im.writable()
	for _, table := range []func() ([]elf.Symbol, error){im.file.Symbols, im.file.DynamicSymbols} {
		all, _ := table() // a file without a table has an error
		for i := range all {
			im.symbol(&all[i])
		}
	}
}

// symbol handles one symbol.
func (im *image) symbol(is *elf.Symbol) {
	kind, name, index, value := elf.ST_TYPE(is.Info), is.Name, is.Section, is.Value
	im.writes = im.writes || makers[name]
	im.locks = im.locks || index == elf.SHN_UNDEF && name == "mlockall"
	if index == elf.SHN_UNDEF || index == elf.SHN_ABS || kind == elf.STT_TLS || kind == elf.STT_SECTION || kind == elf.STT_FILE || im.at(value) == nil {
		return
	}
	im.marks.set(value)
	if kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC {
		return
	}
	s := im.startAt(value)
	if !s.symbol || better(name, s.name) {
		s.name = name
	}
	s.symbol, s.resolver, s.size = true, s.resolver || kind == elf.STT_GNU_IFUNC, max(s.size, is.Size)
}

// startAt returns the start at an address, and makes it on the first call.
func (im *image) startAt(entry uint64) *start {
	s := im.starts[entry]
	if s == nil {
		s = &start{frame: frame{from: entry, guarded: math.MaxUint64}, name: fmt.Sprintf("0x%x", entry)}
		im.starts[entry] = s
	}
	return s
}

// makers are the functions of the C library by which a program makes memory executable.
var makers = map[string]bool{"mmap": true, "mmap64": true, "mprotect": true, "pkey_mprotect": true, "syscall": true}

// writable reports whether the object's own data or stack can be executed.
func (im *image) writable() bool {
	return slices.ContainsFunc(im.file.Progs, func(p *elf.Prog) bool {
		return (p.Type == elf.PT_LOAD || p.Type == elf.PT_GNU_STACK) && p.Flags&(elf.PF_W|elf.PF_X) == elf.PF_W|elf.PF_X
	})
}

// better reports whether a name of a function is to be shown instead of another: the one with fewer
// leading underscores, then the first in alphabetical order.
func better(a, b string) bool {
	x, y := len(a)-len(strings.TrimLeft(a, "_")), len(b)-len(strings.TrimLeft(b, "_"))
	if x != y {
		return x < y
	}
	return a < b
}

// unwound adds the information of the FDEs: the beginnings of functions without a symbol, and the
// lengths of functions.
func (im *image) unwound() {
	for _, f := range im.frames() {
		if im.at(f.from) == nil {
			continue
		}
		im.startAt(f.from).frame = f
		im.marks.set(f.from)
	}
}
