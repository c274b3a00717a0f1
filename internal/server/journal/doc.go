// Package journal keeps records of what happened, append-only, in files that a
// crash at any moment leaves readable.
//
// A file begins with a header: 8 bytes of magic, the format's version (uint 32) and
// the CRC-32C of both. Frames follow, one an entry:
//
//	length of the payload   uint 32
//	CRC-32C of the payload  uint 32
//	CRC-32C of the frame's offset in the file (uint 64) and the two fields above
//	payload                 an entry as event.MarshalTo writes it
//
// All numbers are little-endian. The frame header's own checksum makes its length
// trustworthy. As it covers the offset, no bytes inside a payload can be mistaken for a
// frame. So a reader that finds a bad frame can search for the next good one. If there is
// none, a crash interrupted the last write: the tail is cut off and reported. If there is
// one, the middle of the file is damaged. The file is then refused, as entries are missing
// that the coordinator has acted upon.
//
// When Append returns, its entries are in the kernel's page cache and survive the death
// of the process. Sync writes them to the disk, so that they survive the death of the machine.
//
// A coordinator uses a [Set]: it replays all journals at its start, and appends from then on.
// The package does not know what the records mean.
package journal
