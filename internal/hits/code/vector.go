package code

// vex decodes the rest of an instruction with a two-byte (c5) or three-byte (c4) VEX prefix.
func (d *decoder) vex(op byte) (instruction, error) {
	space := byte(1)
	if op == 0xc4 {
		if d.pos+1 >= len(d.code) {
			return instruction{}, errCut
		}
		space = d.code[d.pos] & 0x1f
		d.pos++
	}
	if d.pos+1 >= len(d.code) {
		return instruction{}, errCut
	}
	op = d.code[d.pos+1]
	d.pos += 2
	if space == 1 && op == 0x77 { // vzeroupper, vzeroall
		return d.finish(plain, none, 0)
	}
	return d.space(space, op)
}

// xop decodes the rest of an instruction of AMD's XOP, whose first byte is also that of pop.
func (d *decoder) xop() (instruction, error) {
	if d.pos+2 >= len(d.code) {
		return instruction{}, errCut
	}
	space := d.code[d.pos] & 0x1f
	d.pos += 3
	switch space {
	case 8:
		return d.finish(plain, modrm|imm8, 0)
	case 9:
		return d.finish(plain, modrm, 0)
	case 10:
		return d.finish(plain, modrm, 4)
	}
	return instruction{}, errUnknown
}

// evex decodes the rest of an instruction with an EVEX prefix (AVX-512, FP16). Those of APX are
// unknown.
func (d *decoder) evex() (instruction, error) {
	if d.pos+3 >= len(d.code) {
		return instruction{}, errCut
	}
	p0, p1, op := d.code[d.pos], d.code[d.pos+1], d.code[d.pos+3]
	if p0&0x08 != 0 || p1&0x04 == 0 {
		return instruction{}, errUnknown
	}
	d.pos += 4
	return d.space(p0&7, op)
}

// space decodes the rest of an instruction of an opcode space that VEX and EVEX share.
func (d *decoder) space(number, op byte) (instruction, error) {
	switch number {
	case 1:
		shape := escapedShape[op]
		if shape&modrm == 0 {
			return instruction{}, errUnknown
		}
		return d.finish(plain, shape, 0)
	case 2, 5, 6:
		return d.finish(plain, modrm, 0)
	case 3:
		return d.finish(plain, modrm|imm8, 0)
	}
	return instruction{}, errUnknown
}
