// Package journal keeps records of what happened, append-only, in files that a
// crash at any moment leaves readable.
//
// A file begins with a header: 8 bytes of magic, the format's version (uint 32) and
// the CRC-32C of both. Frames follow, one an entry:
//
//	length of the payload   uint 32
//	CRC-32C of the payload  uint 32
//	CRC-32C of the frame's offset in the file (uint 64) and the two fields above
//	payload                 an entry as event.Marshal writes it
//
// All numbers are little-endian. The frame header's own checksum makes its length
// trustworthy, and as it covers the offset no bytes inside a payload can pass for a
// frame. So a reader that meets a bad frame can search on for a good one. If there is
// none, the last write was torn by a crash: the tail is cut off and reported. If
// there is one, the middle is damaged, and the file is refused, for entries that
// were acted upon are missing.
//
// What Append was given is in the kernel when it returns and survives the death of
// the process; Sync makes it survive that of the machine.
package journal
