package code

// readLSDA reads the exception table of a function at an address. It records from where on
// exceptions are caught, and marks the landing pads. If it does not understand the table, the whole
// function counts as guarded. cleans reports that the function only cleans up when an exception
// passes, as functions in C do, and catches none.
func (im *image) readLSDA(f *frame, address uint64) (cleans bool) {
	r, ok := im.dataAt(address)
	if !ok {
		f.guarded = f.from
		return false
	}
	base := f.from
	if e := r.u8(); e != encodedOmit {
		base = r.pointer(e)
	}
	cleans = true
	if e := r.u8(); e != encodedOmit { // it has a table of types
		cleans = false
		r.leb(false)
	}
	encoding := r.u8()
	n := r.leb(false)
	t := reader{at: r.at}
	t.data = r.take(n)
	for len(t.data) > 0 && im.spend() {
		from := t.value(encoding)
		t.value(encoding)
		pad := t.value(encoding)
		action := t.leb(false)
		cleans = cleans && action == 0
		if pad != 0 && !t.failed {
			im.marks.set(base + pad)
			f.guarded = min(f.guarded, f.from+from)
		}
	}
	if r.failed || t.failed || len(t.data) > 0 {
		f.guarded = f.from
		return false
	}
	return cleans
}

// dataAt returns a reader of the data from an address on.
func (im *image) dataAt(address uint64) (reader, bool) {
	for i := range im.data {
		if s := &im.data[i]; address >= s.from && address < s.to {
			return reader{data: s.bytes(address), at: address}, true
		}
	}
	return reader{}, false
}
