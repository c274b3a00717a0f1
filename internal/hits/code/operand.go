package code

// finish reads what follows the opcode according to its form; extra is the number of further bytes
// of an immediate.
func (d *decoder) finish(f form, extra int) (instruction, error) {
	short := d.size66 && !d.rexW
	if f.bad || f.near == 4 && short { // processors disagree on the length of the latter
		return instruction{}, errUnknown
	}
	if f.modrm {
		d.operand()
	}
	i := instruction{kind: f.kind, relative: f.near, rip: d.rip, address: d.rip != 0 && d.opcode == 0x8d, vector: d.vector, stack: d.stack}
	extra += f.imm + f.near
	if f.immz {
		if extra += 4; short {
			extra -= 2
		}
	}
	switch {
	case f.immz && extra == 4 || extra == 8:
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
