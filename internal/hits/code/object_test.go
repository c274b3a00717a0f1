package code

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// The addresses of test objects.
const (
	textAt   = 0x401000
	rodataAt = 0x402000
	startAt  = textAt // the process's entry, a function of 16 bytes
	testedAt = textAt + 0x10
	ownAt    = textAt + 0x80 // another function
)

// made describes an ELF file of a few sections.
type made struct {
	kind    elf.Type
	machine elf.Machine
	text    []byte
	rodata  []byte
	symbols []elf.Symbol
	extra   map[string][]byte // further sections by name, not part of the memory
	rela    []uint64          // addends of relative relocations

	dynamic []string // names of imported functions
}

// object returns a file with the tested function after the process's entry, padded to the next
// function.
func object(tested []byte, size uint64) made {
	text := append(bytes.Repeat([]byte{0x90}, 15), 0xc3)
	text = append(text, tested...)
	text = append(text, bytes.Repeat([]byte{0xcc}, ownAt-textAt-len(text))...)
	text = append(text, 0x48, 0x83, 0xec, 0x08, 0x31, 0xc0, 0x48, 0x83, 0xc4, 0x08, 0xc3) // sub; xor; add; ret
	return made{kind: elf.ET_DYN, machine: elf.EM_X86_64, text: text, rodata: make([]byte, 64), symbols: []elf.Symbol{
		{Name: "start", Info: byte(elf.STT_FUNC), Value: startAt, Size: 16},
		{Name: "tested", Info: byte(elf.STT_FUNC), Value: testedAt, Size: size},
		{Name: "own", Info: byte(elf.STT_FUNC), Value: ownAt, Size: 11},
	}}
}

// file returns the bytes of the file.
func (o made) file() []byte {
	type part struct {
		elf.Section64
		name string
		data []byte
	}
	symtab, strtab := make([]byte, 24), []byte{0}
	for _, s := range o.symbols {
		e := make([]byte, 24)
		binary.LittleEndian.PutUint32(e, uint32(len(strtab)))
		e[4], e[6] = s.Info, 1
		binary.LittleEndian.PutUint64(e[8:], s.Value)
		binary.LittleEndian.PutUint64(e[16:], s.Size)
		symtab, strtab = append(symtab, e...), append(append(strtab, s.Name...), 0)
	}
	var rela []byte
	for _, addend := range o.rela {
		for _, v := range []uint64{rodataAt, uint64(elf.R_X86_64_RELATIVE), addend} {
			rela = binary.LittleEndian.AppendUint64(rela, v)
		}
	}
	alloc := uint64(elf.SHF_ALLOC)
	parts := []part{
		{name: ""},
		{elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: alloc | uint64(elf.SHF_EXECINSTR), Addr: textAt}, ".text", o.text},
		{elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: alloc, Addr: rodataAt}, ".rodata", o.rodata},
		{elf.Section64{Type: uint32(elf.SHT_RELA), Flags: alloc, Addr: rodataAt + 0x1000, Entsize: 24}, ".rela.dyn", rela},
		{elf.Section64{Type: uint32(elf.SHT_STRTAB)}, ".strtab", strtab},
		{elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: 4, Entsize: 24}, ".symtab", symtab},
	}
	for _, name := range slices.Sorted(maps.Keys(o.extra)) {
		parts = append(parts, part{elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: alloc, Addr: rodataAt + 0x2000}, name, o.extra[name]})
	}
	if o.dynamic != nil {
		dynsym, dynstr := make([]byte, 24), []byte{0}
		for _, name := range o.dynamic {
			dynsym = append(dynsym, make([]byte, 24)...)
			binary.LittleEndian.PutUint32(dynsym[len(dynsym)-24:], uint32(len(dynstr)))
			dynstr = append(append(dynstr, name...), 0)
		}
		parts = append(parts, part{elf.Section64{Type: uint32(elf.SHT_STRTAB)}, "", dynstr},
			part{elf.Section64{Type: uint32(elf.SHT_DYNSYM), Link: uint32(len(parts)), Entsize: 24}, "", dynsym})
	}
	names := []byte{0}
	body := make([]byte, 64)
	for i := range parts {
		p := &parts[i]
		p.Name, p.Off, p.Size = uint32(len(names)), uint64(len(body)), uint64(len(p.data))
		names, body = append(append(names, p.name...), 0), append(body, p.data...)
	}
	parts = append(parts, part{elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: uint64(len(body)), Size: uint64(len(names))}, "", names})
	body = append(body, names...)
	h := elf.Header64{Type: uint16(o.kind), Machine: uint16(o.machine), Version: 1, Entry: startAt, Shoff: uint64(len(body)), Ehsize: 64,
		Shentsize: 64, Shnum: uint16(len(parts)), Shstrndx: uint16(len(parts) - 1)}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	var head, table bytes.Buffer
	_ = binary.Write(&head, binary.LittleEndian, h)
	for _, p := range parts {
		_ = binary.Write(&table, binary.LittleEndian, p.Section64)
	}
	copy(body, head.Bytes())
	return append(body, table.Bytes()...)
}

// analysed returns the result for the tested function.
func (o made) analysed(t *testing.T) Function {
	t.Helper()
	found, err := Analyse(bytes.NewReader(o.file()))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found.Functions, func(f Function) bool { return f.Entry == testedAt })
	if i < 0 {
		t.Fatalf("not found among %v", found.Functions)
	}
	return found.Functions[i]
}

// machineCode parses bytes in hexadecimal digits; the text after a semicolon is a comment.
func machineCode(t *testing.T, lines ...string) []byte {
	t.Helper()
	var code []byte
	for _, l := range lines {
		digits, _, _ := strings.Cut(l, ";")
		var b []byte
		if _, err := fmt.Sscanf(strings.ReplaceAll(digits, " ", ""), "%x", &b); err != nil {
			t.Fatal(err)
		}
		code = append(code, b...)
	}
	return code
}

// TestBeginnings checks which beginnings of functions can be displaced, and the reasons for the
// others.
func TestBeginnings(t *testing.T) {
	for _, test := range []struct {
		name   string
		code   []string
		patch  int
		n      int
		reason Reason
		left   bool // flags may be live
	}{
		{"usual", []string{"55 ; push %rbp", "48 89 e5 ; mov %rsp,%rbp", "48 83 ec 20 ; sub $32,%rsp", "c9 c3 ; leave; ret"}, 0, 8, "", false},
		{"endbr64 stays first", []string{"f3 0f 1e fa", "48 83 ec 08", "31 c0 ; xor", "48 83 c4 08 c3"}, 4, 6, "", false},
		{"flags not written before a call", []string{"48 8b 47 10 ; mov 16(%rdi),%rax", "48 8b 00 ; mov (%rax),%rax", "50 ; push %rax", "ff d0", "58 c3"}, 0, 7, "", true},
		{"flags read first", []string{"48 11 d8 ; adc %rbx,%rax", "48 29 c8 ; sub", "31 c0 c3"}, 0, 0, NoStack, true},
		{"setcc first", []string{"0f 92 c0 ; setb %al", "50 ; push %rax", "48 29 c8 ; sub", "31 c0 c3"}, 0, 7, "", true},
		{"smaller than the jump", []string{"31 c0 ; xor %eax,%eax", "c3"}, 0, 5, "", false},
		{"branch out of the beginning", []string{"85 ff ; test %edi,%edi", "74 05 ; je +5", "b8 01 00 00 00 ; mov $1,%eax", "c3", "31 c0 c3"}, 0, 9, "", false},
		{"branch into the beginning", []string{"53 ; push %rbx", "48 89 fb ; mov %rdi,%rbx", "0f b7 03 ; movzwl (%rbx),%eax", "75 f8 ; jne +1", "5b c3"}, 0, 0, BranchInto, false},
		{"long branch into the beginning", []string{"53", "48 89 fb", "0f b7 03", "0f 85 f4 ff ff ff ; jne +1", "5b c3"}, 0, 0, BranchInto, false},
		{"loop to the entry", []string{"48 ff cf ; dec %rdi", "48 83 ff 02 ; cmp", "75 f7 ; jne entry", "c3"}, 0, 0, LoopAtEntry, false},
		{"call of itself", []string{"48 83 ec 08 ; sub $8,%rsp", "48 ff cf ; dec %rdi", "e8 f4 ff ff ff ; call entry", "48 83 c4 08 c3"}, 0, 7, "", false},
		{"call", []string{"48 83 ec 08 ; sub $8,%rsp", "e8 67 00 00 00 ; call own", "48 83 c4 08 c3"}, 0, 9, "", false},
		{"call through a register, then more", []string{"ff d7 ; call *%rdi", "31 c0 ; xor", "31 c0 ; xor", "c3"}, 0, 0, EarlyCall, false},
		{"system call", []string{"b8 27 00 00 00 ; mov $39,%eax", "0f 05 ; syscall", "c3"}, 0, 0, NoStack, true},
		{"system call first", []string{"0f 05 ; syscall", "48 83 ec 08", "c3"}, 0, 0, Immovable, false},
		{"return from a signal", []string{"48 c7 c0 0f 00 00 00 ; mov $15,%rax", "0f 05 ; syscall"}, 0, 0, SignalReturn, false},
		{"jrcxz", []string{"e3 04 ; jrcxz", "48 83 ec 08", "c3"}, 0, 0, Immovable, false},
		{"unknown instruction", []string{"48 83 ec 08", "31 c0", "06 ; not in 64-bit mode", "c3"}, 0, 0, Undecodable, false},
		{"branch between instructions", []string{"48 83 ec 08", "31 c0", "eb fd ; jmp into the xor", "c3"}, 0, 0, Undecodable, false},
		{"branch between later instructions", []string{"48 83 ec 08", "31 c0", "b8 01 00 00 00", "eb fd ; jmp", "c3"}, 0, 0, Undecodable, false},
		{"computed jump", []string{"48 83 ec 08", "48 8d 05 02 00 00 00 ; lea behind the jump,%rax", "ff e0 ; jmp *%rax", "48 83 c4 08 c3"}, 0, 0, ComputedJumps, false},
		{"far call", []string{"ff 1f ; lcall *(%rdi)", "31 c0", "31 c0", "c3"}, 0, 0, Immovable, false},
		{"jump through a pointer", []string{"48 83 ec 08", "48 8b 07 ; mov (%rdi),%rax", "ff e0 ; jmp *%rax"}, 0, 7, "", false},
	} {
		code := machineCode(t, test.code...)
		f := object(code, uint64(len(code))).analysed(t)
		if len(f.Original) != test.n || f.Reason != test.reason || len(f.Original) > 0 && (f.Careful != test.left || f.Patch != testedAt+uint64(test.patch)) {
			t.Errorf("%s: %+v", test.name, f)
		}
	}
}

// TestBytesThatSomethingLeadsTo checks references from elsewhere in the object into the bytes of the
// jump.
func TestBytesThatSomethingLeadsTo(t *testing.T) {
	code := machineCode(t, "55", "48 89 e5", "48 83 ec 20", "c9 c3")
	into := uint64(testedAt + 4)
	for name, change := range map[string]func(*made){
		"symbol":     func(o *made) { o.symbols = append(o.symbols, elf.Symbol{Name: "inner", Value: into}) },
		"relocation": func(o *made) { o.rela = []uint64{into} },
		"call of another function": func(o *made) {
			o.text = append(o.text, 0xe8)
			o.text = binary.LittleEndian.AppendUint32(o.text, uint32(into-(textAt+uint64(len(o.text))+4)))
		},
		"address taken by another function": func(o *made) {
			o.text = append(o.text, 0x48, 0x8d, 0x05)
			o.text = binary.LittleEndian.AppendUint32(o.text, uint32(into-(textAt+uint64(len(o.text))+4)))
		},
		"table of distances": func(o *made) {
			binary.LittleEndian.PutUint32(o.rodata, uint32(testedAt-rodataAt+0x100000000))
			binary.LittleEndian.PutUint32(o.rodata[4:], uint32(into-rodataAt+0x100000000))
			o.text = append(o.text, 0x48, 0x8d, 0x05)
			o.text = binary.LittleEndian.AppendUint32(o.text, uint32(rodataAt-(textAt+uint64(len(o.text))+4)))
		},
		"pointer at a fixed place": func(o *made) {
			o.kind = elf.ET_EXEC
			binary.LittleEndian.PutUint64(o.rodata[17:], into)
		},
		"constant at a fixed place": func(o *made) {
			o.kind = elf.ET_EXEC
			copy(o.text[ownAt-textAt+4:], []byte{0xbf}) // mov $into,%edi
			binary.LittleEndian.PutUint32(o.text[ownAt-textAt+5:], uint32(into))
			o.symbols[2].Size = 9
		},
	} {
		o := object(code, uint64(len(code)))
		if f := o.analysed(t); f.Reason != "" {
			t.Fatalf("as it is: %+v", f)
		}
		if change(&o); o.analysed(t).Reason != BranchInto {
			t.Errorf("%s: %+v", name, o.analysed(t))
		}
	}
}

// TestFaults checks which functions cannot fault in their trampolines: those whose displaced
// instructions use registers only.
func TestFaults(t *testing.T) {
	for _, test := range []struct {
		code   []string
		faults bool
	}{
		{[]string{"48 8d 47 10 ; lea 16(%rdi),%rax", "48 29 f8 ; sub", "c3"}, false},
		{[]string{"85 ff ; test %edi,%edi", "74 05 ; je +5", "b8 01 00 00 00", "c3", "31 c0 c3"}, false},
		{[]string{"48 8b 47 10 ; mov 16(%rdi),%rax", "48 29 f8 ; sub", "c3"}, true},
		{[]string{"55 ; push %rbp", "48 89 e5", "48 83 ec 20 ; sub", "c9 c3"}, true},
		{[]string{"48 29 c0 ; sub", "48 f7 f7 ; div %rdi", "c3"}, true},
		{[]string{"48 83 ec 08 ; sub $8,%rsp", "e8 67 00 00 00 ; call own", "48 83 c4 08 c3"}, true},
	} {
		code := machineCode(t, test.code...)
		if f := object(code, uint64(len(code))).analysed(t); len(f.Original) == 0 || f.Faults != test.faults {
			t.Errorf("%v: %+v", test.code, f)
		}
	}
}

// TestCatches checks that an object that catches exceptions is recognised without its symbols, by the
// tables for unwinding: one that only cleans up when an exception passes, as C does, catches none.
func TestCatches(t *testing.T) {
	const lsda = rodataAt + 32
	personal := []byte{
		0x1c, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'P', 'L', 'R', 0, 1, 0x78, 0x10, 7, 0x03, 0, 0x10, 0x40, 0, 0x03, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0,
		0x14, 0, 0, 0, 0x24, 0, 0, 0, 0xe8, 0xcf, 0xff, 0xff, 0x0a, 0, 0, 0, 4, lsda & 0xff, lsda >> 8 & 0xff, lsda >> 16, 0, 0, 0, 0,
		0, 0, 0, 0,
	}
	unwound := bytes.Clone(personal)
	copy(unwound[len(unwound)-11:], []byte{0, 0, 0, 0}) // no table
	for _, test := range []struct {
		name   string
		frames []byte
		lsda   []byte
		want   bool
	}{
		{"no personality", someFrames(), nil, false},
		{"only cleans up", personal, []byte{0xff, 0xff, 1, 4, 0, 10, 9, 0}, false},
		{"catches by type", personal, []byte{0xff, 0x03, 0x10, 1, 4, 0, 10, 9, 1}, true},
		{"acts without types", personal, []byte{0xff, 0xff, 1, 4, 0, 10, 9, 1}, true},
		{"damaged table", personal, []byte{0xff, 0xff, 1, 0x7f, 0}, true},
		{"no table", unwound, nil, true},
		{"unknown CIE", bytes.Replace(someFrames(), []byte("zR"), []byte("zX"), 1), nil, true},
	} {
		o := object(machineCode(t, "55", "48 89 e5", "48 83 ec 20", "c9 c3"), 10)
		copy(o.rodata[32:], test.lsda)
		o.extra = map[string][]byte{".eh_frame": test.frames}
		found, err := Analyse(bytes.NewReader(o.file()))
		if err != nil || found.Catches != test.want {
			t.Errorf("%s: %+v, %v", test.name, found, err)
		}
	}
}

// TestStackOfTrampoline checks that the flags are preserved only where the function itself overwrites
// the memory that this takes.
func TestStackOfTrampoline(t *testing.T) {
	for _, test := range []struct {
		code   []string
		reason Reason
	}{
		{[]string{"48 8b 47 10 ; mov 16(%rdi),%rax", "50 ; push %rax", "e8 00 00 00 00", "58 c3"}, ""},
		{[]string{"48 8b 44 24 08 ; mov 8(%rsp),%rax", "ff d0 ; call *%rax", "c3"}, ""},
		{[]string{"48 8b 47 10 ; mov 16(%rdi),%rax", "48 8b 00 ; mov (%rax),%rax", "c3"}, NoStack},
		{[]string{"48 8b 44 24 f8 ; mov -8(%rsp),%rax", "50 ; push %rax", "58 c3"}, NoStack},
		{[]string{"48 8d 64 24 80 ; lea -128(%rsp),%rsp", "50 ; push %rax", "58 c3"}, NoStack},
		{[]string{"48 8b 47 10 ; mov 16(%rdi),%rax", "58 ; pop %rax", "50 ; push %rax", "c3"}, NoStack},
	} {
		code := machineCode(t, test.code...)
		if f := object(code, uint64(len(code))).analysed(t); f.Reason != test.reason || test.reason == "" && !f.Careful {
			t.Errorf("%v: %+v", test.code, f)
		}
	}
}

// TestDataBehind checks that data after a function of three bytes is not taken for filler.
func TestDataBehind(t *testing.T) {
	for name, test := range map[string]struct {
		behind []byte
		reads  bool // an instruction reads it
		want   Reason
	}{
		"zeros":                        {make([]byte, 8), false, Small},
		"int3":                         {bytes.Repeat([]byte{0xcc}, 8), false, ""},
		"int3 that is read":            {bytes.Repeat([]byte{0xcc}, 8), true, BranchInto},
		"int3 read by what is no code": {bytes.Repeat([]byte{0xcc}, 8), true, BranchInto},
	} {
		code := machineCode(t, "31 c0 ; xor %eax,%eax", "c3")
		o := object(append(code, test.behind...), uint64(len(code)))
		if test.reads {
			if strings.Contains(name, "no code") {
				o.text = append(o.text, 0x06) // unknown
			}
			o.text = append(o.text, 0x83, 0x3d) // cmpl $7,behind
			o.text = binary.LittleEndian.AppendUint32(o.text, uint32(testedAt+3-(textAt+len(o.text)+5)))
			o.text = append(o.text, 7)
		}
		if f := o.analysed(t); f.Reason != test.want {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestCopies checks that a function whose address is taken is not counted in an object that can make
// memory executable.
func TestCopies(t *testing.T) {
	code := machineCode(t, "55", "48 89 e5", "48 83 ec 20", "c9 c3")
	for name, imported := range map[string]bool{"mprotect": true, "malloc": false} {
		o := object(code, uint64(len(code)))
		o.dynamic = []string{name}
		if f := o.analysed(t); f.Reason != "" {
			t.Errorf("with %s: %+v", name, f)
		}
		o.rela = []uint64{testedAt}
		if f := o.analysed(t); (f.Reason == Copied) != imported {
			t.Errorf("with %s and its address taken: %+v", name, f)
		}
	}
}

// TestRefusals checks objects that are refused as a whole.
func TestRefusals(t *testing.T) {
	code := machineCode(t, "55", "48 89 e5", "48 83 ec 20", "c9 c3")
	for _, test := range []struct {
		change func(*made)
		want   Refusal
	}{
		{func(o *made) { o.machine = elf.EM_AARCH64 }, NotAMD64},
		{func(o *made) { o.kind = elf.ET_REL }, NotLinked},
		{func(o *made) { o.text = nil }, NoCode},
		{func(o *made) { o.extra = map[string][]byte{".gopclntab": {1}} }, GoProgram},
		{func(o *made) { o.extra = map[string][]byte{"__rseq_cs": {1}} }, Restartable},
		{func(o *made) { copy(o.rodata, "CAMLRUNPARAM\x00OCAMLRUNPARAM\x00") }, Runtime},
	} {
		o := object(code, uint64(len(code)))
		test.change(&o)
		_, err := Analyse(bytes.NewReader(o.file()))
		if r := Refusal(""); !errors.As(err, &r) || r != test.want {
			t.Errorf("%v, want %v", err, test.want)
		}
	}
	if _, err := Analyse(strings.NewReader("#!/bin/sh\n")); !errors.Is(err, NotELF) {
		t.Errorf("script: %v", err)
	}
}
