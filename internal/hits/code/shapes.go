package code

import "strings"

// shapeLetters are the shapes in the maps of opcodes below.
var shapeLetters = map[rune]int{
	'.': none, '!': bad, 'm': modrm, '1': imm8, '2': imm16, '4': immz, 's': near8, 'l': near32, 'b': modrm | imm8, 'z': modrm | immz,
}

// oneByteShape has the shapes of instructions by their first byte, a row for each of its upper halves, except for those that decode
// handles itself.
var oneByteShape = shapesOf(`
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
	bb2.!!bz ..2..1!.
	mmmm!!!. mmmmmmmm
	ssss1111 ll!s....
	!.!!.... ......m.`)

// escapedShape has the shapes by the byte after 0f, and by the opcode of the first space of VEX and
// EVEX.
var escapedShape = shapesOf(`
	mmmm!... ..!.!m.b
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

// shapesOf reads a map of opcodes.
func shapesOf(rows string) (table [256]int) {
	for op, letter := range strings.Join(strings.Fields(rows), "") {
		table[op] = shapeLetters[letter]
	}
	return table
}
