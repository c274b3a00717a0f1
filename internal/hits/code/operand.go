package code

// finish reads what follows the opcode according to its form; extra is the number of further bytes
// of an immediate.
func (d *decoder) finish(f form, extra int) (instruction, error) {
	shape := f.shape
	if shape&bad != 0 || shape&near32 != 0 && d.size66 && !d.rexW { // processors disagree on the length of the latter
		return instruction{}, errUnknown
	}
	if shape&modrm != 0 {
		d.operand()
	}
	i := instruction{kind: f.kind, rip: d.rip, address: d.rip != 0 && d.opcode == 0x8d, vector: d.vector, stack: d.stack}
	extra += d.immediate(shape, &i)
	switch {
	case shape&immz != 0 && extra == 4 || extra == 8:
		i.constant = d.pos
	case d.far != 0:
		i.constant = d.far
	}
	i.length = d.pos + extra
	if i.length > len(d.code) || i.rip != 0 && d.addr67 { // relative to eip: never generated
		return instruction{}, errUnknown
	}
	return i, nil
}

// immediate returns the number of bytes of immediates and distances of a shape.
func (d *decoder) immediate(shape uint8, i *instruction) int {
	n := 0
	if shape&imm8 != 0 {
		n++
	}
	if shape&imm16 != 0 {
		n += 2
	}
	if shape&immz != 0 {
		n += pick(d.size66 && !d.rexW, 2, 4)
	}
	if shape&near8 != 0 {
		n, i.relative = n+1, 1
	}
	if shape&near32 != 0 {
		n, i.relative = n+4, 4
	}
	return n
}

// operand reads ModRM, SIB and displacement.
func (d *decoder) operand() {
	m := d.next()
	mod, rm := m>>6, m&7
	if mod == 3 {
		return
	}
	if rm == 4 {
		sib := d.next()
		d.stack = sib&7 == 4
		if mod == 0 && sib&7 == 5 {
			d.far = d.pos
			d.pos += 4
		}
	}
	switch {
	case mod == 0 && rm == 5:
		d.rip = d.pos
		d.pos += 4
	case mod == 1:
		d.pos++
	case mod == 2:
		d.far = d.pos
		d.pos += 4
	}
}
