package code

// vex decodes the rest of an instruction with a two-byte (c5) or three-byte (c4) VEX prefix.
func (d *decoder) vex(op byte) (instruction, error) {
	space := byte(1)
	if op == 0xc4 {
		space = d.next() & 0x1f
	}
	d.pos++
	op = d.next()
	if space == 1 && op == 0x77 { // vzeroupper, vzeroall
		return d.finish(forms['.'], 0)
	}
	return d.space(space, op)
}

// evex decodes the rest of an instruction with an EVEX prefix (AVX-512, FP16). Those of APX are
// unknown.
func (d *decoder) evex() (instruction, error) {
	p0, p1, _ := d.next(), d.next(), d.next()
	if p0&0x08 != 0 || p1&0x04 == 0 {
		return instruction{}, errUnknown
	}
	return d.space(p0&7, d.next())
}

// space decodes the rest of an instruction of an opcode space that VEX and EVEX share.
func (d *decoder) space(number, op byte) (instruction, error) {
	switch number {
	case 1:
		if form := escapedForm[op]; form.modrm {
			return d.finish(form, 0)
		}
	case 2, 5, 6:
		return d.finish(forms['m'], 0)
	case 3:
		return d.finish(forms['b'], 0)
	}
	return instruction{}, errUnknown
}
