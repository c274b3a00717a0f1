package code

import "strings"

// form is what an opcode says of its instruction.
type form struct {
	kind  kind
	shape uint8
}

// forms are the letters in the maps of opcodes below.
var forms = [...]form{
	'.': {}, '!': {shape: bad}, 'm': {shape: modrm}, '1': {shape: imm8}, '2': {shape: imm16}, '3': {shape: imm16 | imm8}, '4': {shape: immz},
	'b': {shape: modrm | imm8}, 'z': {shape: modrm | immz},
	's': {conditional, near8}, 'l': {conditional, near32}, 'o': {loop, near8}, 'x': {loop, near32},
	'c': {call, near32}, 'j': {jump, near32}, 'k': {jump, near8}, 'r': {kind: ret}, 'R': {ret, imm16}, 'h': {kind: stop},
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
