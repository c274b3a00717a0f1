package extsort

import "unsafe"

// Entries and slots are in the same region as the text, so that a few long records and many short
// ones can both use all of it. Only these functions convert parts of the region to entries and slots.

// viewEntries returns the end of mem as n entries.
func viewEntries(mem []byte, n int) []entry {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*entry)(unsafe.Pointer(&mem[len(mem)-n*entrySize])), n)
}

// viewSlots returns the start of mem as n slots.
func viewSlots(mem []byte, n int) []slot {
	return unsafe.Slice((*slot)(unsafe.Pointer(&mem[0])), n)
}
