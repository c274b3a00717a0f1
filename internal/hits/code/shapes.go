package code

import "strings"

// form is what an opcode says of its instruction.
type form struct {
	kind  kind
	near  int  // bytes of the distance to its target: 0, 1 or 4
	imm   int  // bytes of an immediate
	immz  bool // with another of four bytes, two with prefix 66
	modrm bool // with a ModRM byte, possibly SIB and displacement
	bad   bool // invalid in 64-bit mode, or unknown here
}

// forms are the letters in the maps of opcodes below.
var forms = [...]form{
	'.': {}, '!': {bad: true}, 'm': {modrm: true}, '1': {imm: 1}, '2': {imm: 2}, '3': {imm: 3}, '4': {immz: true},
	'b': {modrm: true, imm: 1}, 'z': {modrm: true, immz: true},
	's': {kind: conditional, near: 1}, 'l': {kind: conditional, near: 4}, 'o': {kind: loop, near: 1}, 'x': {kind: loop, near: 4},
	'c': {kind: call, near: 4}, 'j': {kind: jump, near: 4}, 'k': {kind: jump, near: 1}, 'r': {kind: ret}, 'R': {kind: ret, imm: 2}, 'h': {kind: stop},
}

// oneByteForm has the forms of instructions by their first byte, a row for each of its upper halves, except for those that decode
// handles itself.
var oneByteForm = formsOf(`
	mmmm14!! mmmm14!!
	mmmm14!! mmmm14!!
	mmmm14!! mmmm14!!
	mmmm14!! mmmm14!!
	!!!!!!!! !!!!!!!!
	........ ........
	!!!m!!!! 4z1b....
	ssssssss ssssssss
	bz!bmmmm mmmmmmmm
	........ ..!.....
	........ 14......
	11111111 44444444
	bbRr!!bz 3.Rr.1!r
	mmmm!!!. mmmmmmmm
	oooo1111 cj!k....
	!.!!h.mm ......mm`)

// escapedForm has the forms by the byte after 0f, and by the opcode of the first space of VEX and
// EVEX.
var escapedForm = formsOf(`
	mmmm!... ..!h!m.b
	mmmmmmmm mmmmmmmm
	mmmm!!!! mmmmmmmm
	......!. !!!!!!!!
	mmmmmmmm mmmmmmmm
	mmmmmmmm mmmmmmmm
	mmmmmmmm mmmmmmmm
	bbbbmmm. mm!!mmmm
	llllllll llllllll
	mmmmmmmm mmmmmmmm
	...mbm!! ...mbmmm
	mmmmmmmm mmbmmmmm
	mmbmbbbm ........
	mmmmmmmm mmmmmmmm
	mmmmmmmm mmmmmmmm
	mmmmmmmm mmmmmmmm`)

// formsOf reads a map of opcodes.
func formsOf(rows string) (table [256]form) {
	for op, letter := range strings.Join(strings.Fields(rows), "") {
		table[op] = forms[letter]
	}
	return table
}
