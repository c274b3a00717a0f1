package extsort

import "unsafe"

// Entries and slots lie in a region beside the text, so that few long and many short
// records both use all of it. These are the only places that look at it as such.

// viewEntries returns the last n entries' worth of mem.
func viewEntries(mem []byte, n int) []entry {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*entry)(unsafe.Pointer(&mem[len(mem)-n*entrySize])), n)
}

// viewSlots returns the first n slots' worth of mem.
func viewSlots(mem []byte, n int) []slot {
	return unsafe.Slice((*slot)(unsafe.Pointer(&mem[0])), n)
}
