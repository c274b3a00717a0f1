package code

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
)

// BuildID returns the build-id of an ELF file for amd64 in hexadecimal digits, or "". It reads few bytes,
// whatever the file says.
func BuildID(f io.ReaderAt) string {
	var h elf.Header64
	if binary.Read(io.NewSectionReader(f, 0, headerSize), binary.LittleEndian, &h) != nil {
		return ""
	}
	for i := range min(int64(h.Phnum), 64) {
		var p elf.Prog64
		if binary.Read(io.NewSectionReader(f, int64(h.Phoff)+i*programSize, programSize), binary.LittleEndian, &p) != nil {
			return ""
		}
		if elf.ProgType(p.Type) != elf.PT_NOTE || p.Filesz > 1<<16 {
			continue
		}
		notes := make([]byte, p.Filesz)
		if _, err := f.ReadAt(notes, int64(p.Off)); err != nil {
			continue
		}
		if b := gnuBuildID(notes); b != nil {
			return hex.EncodeToString(b)
		}
	}
	return ""
}

// The sizes of the header of an ELF file of 64 bits, and of an entry of its table of segments.
const (
	headerSize  = 64
	programSize = 56
)

// gnuBuildID returns the build-id among notes (elf(5)), or nil.
func gnuBuildID(notes []byte) []byte {
	for len(notes) >= 12 {
		name, desc := uint64(binary.LittleEndian.Uint32(notes)), uint64(binary.LittleEndian.Uint32(notes[4:]))
		kind := binary.LittleEndian.Uint32(notes[8:])
		notes = notes[12:]
		begin := (name + 3) &^ 3
		end := begin + desc
		if end > uint64(len(notes)) {
			return nil
		}
		if kind == 3 && string(notes[:name]) == "GNU\x00" && desc <= 64 {
			return notes[begin:end]
		}
		notes = notes[min(uint64(len(notes)), (end+3)&^3):]
	}
	return nil
}
