package code

import "debug/elf"

const (
	relocationSize    = 24
	packedRelocations = elf.SectionType(19) // SHT_RELR
)

// pointers marks every address of code that data may contain: by relocations if the object can be
// loaded anywhere, and otherwise, or if relocations do not contain the address, by all values that
// look like an address. walk marks the addresses in the code of an object at a fixed address.
func (im *image) pointers() {
	packed := false
	for _, s := range im.file.Sections {
		switch {
		case s.Type == elf.SHT_RELA && s.Flags&elf.SHF_ALLOC != 0:
			im.relocations(s)
		case s.Type == packedRelocations || s.Type == elf.SHT_REL:
			packed = true
		}
	}
	switch {
	case im.fixed():
		for i := range im.data {
			im.look32(&im.data[i], im.data[i].data)
		}
	case packed:
		for i := range im.data {
			im.look64(&im.data[i])
		}
	}
}

// relocations marks the targets of the relocations of a section.
func (im *image) relocations(s *elf.Section) {
	table, ok := im.loaded(s)
	if !ok {
		return
	}
	var symbols []byte
	if int(s.Link) < len(im.file.Sections) {
		symbols, _ = im.loaded(im.file.Sections[s.Link])
	}
	for ; len(table) >= relocationSize; table = table[relocationSize:] {
		info, addend := le64(table[8:]), le64(table[16:])
		switch elf.R_X86_64(uint32(info)) {
		case elf.R_X86_64_RELATIVE, elf.R_X86_64_IRELATIVE:
			im.marks.set(addend)
			im.taken.set(addend)
		case elf.R_X86_64_64, elf.R_X86_64_GLOB_DAT:
			a := valueOf(symbols, info>>32) + addend
			im.taken.set(a)
			if addend != 0 {
				im.marks.set(a)
			}
		}
	}
}

// valueOf returns the value of a symbol by its number in a table, or 0.
func valueOf(table []byte, n uint64) uint64 {
	if n >= uint64(len(table))/elf.Sym64Size {
		return 0
	}
	return le64(table[n*elf.Sym64Size+8:])
}

// loaded returns the bytes of a section that was read before.
func (im *image) loaded(s *elf.Section) ([]byte, bool) {
	for i := range im.data {
		if d := &im.data[i]; d.from == s.Addr && d.to == s.Addr+s.Size {
			return d.data, true
		}
	}
	return nil, false
}

// look32 marks every four bytes of a section, at any alignment, that could be an address of code.
func (im *image) look32(s *section, data []byte) {
	for ; len(data) >= 4; data = data[1:] {
		im.value(s, uint64(le32(data)))
	}
}

// look64 marks every aligned eight bytes of a section that could be an address of code.
func (im *image) look64(s *section) {
	for data := s.data; len(data) >= 8; data = data[8:] {
		im.value(s, le64(data))
	}
}

// value marks a value that could be an address.
func (im *image) value(s *section, a uint64) {
	if im.marks.set(a); !s.symbols {
		im.taken.set(a)
	}
}

// distances treats every byte of code as the possible beginning of an instruction with a distance of
// 32 bits. It marks the targets of such branches and calls, and follows tables at addresses that
// would be taken. So it finds each such instruction, whatever data is among the code, and excludes
// hardly any function by chance.
func (im *image) distances() {
	tables := map[uint64]bool{}
	for i := range im.code {
		s := &im.code[i]
		d := s.data
		for p := 0; p+5 <= len(d); p++ {
			switch b := d[p]; {
			case b == 0xe8 || b == 0xe9:
				im.distance(s, p+1, 0)
			case b == 0x0f && d[p+1]&0xf0 == 0x80, b == 0xc7 && d[p+1] == 0xf8:
				im.distance(s, p+2, 0)
			case b == 0x8d && d[p+1]&0xc7 == 0x05:
				a, ok := im.distance(s, p+2, 0)
				im.taken.set(a)
				if ok && !tables[a] {
					tables[a] = true
					im.table(a)
				}
			}
		}
	}
}

// distance marks the target of a distance of 32 bits at an index of a section, in an instruction with
// rest more bytes.
func (im *image) distance(s *section, p int, rest uint64) (uint64, bool) {
	if p+4 > len(s.data) {
		return 0, false
	}
	a := s.from + uint64(p) + 4 + rest + uint64(int64(int32(le32(s.data[p:]))))
	im.marks.set(a)
	return a, true
}

// table follows a table of distances of 32 or 64 bits from its own beginning, as compilers generate
// for switch statements, and marks the targets of its entries up to the first that is not in code.
func (im *image) table(base uint64) {
	r, ok := im.dataAt(base)
	if !ok {
		s := im.at(base)
		if s == nil {
			return
		}
		r = reader{data: s.bytes(base)}
	}
	for d := r.data; len(d) >= 4 && im.follow(base+uint64(int64(int32(le32(d))))); d = d[4:] {
	}
	for d := r.data; len(d) >= 8 && im.follow(base+le64(d)); d = d[8:] {
	}
}

// follow marks the target of an entry of a table, and reports whether it is in code.
func (im *image) follow(a uint64) bool {
	if im.at(a) == nil || !im.spend() {
		return false
	}
	im.marks.set(a)
	return true
}
