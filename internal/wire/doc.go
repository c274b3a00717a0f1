// Package wire is what the coordinator and its workers say to each other, and how:
// frames of MessagePack over mutual TLS with keys made for one coordinator's life.
//
// A frame is a 4-byte big-endian length, a 1-byte message kind and the message.
// Nothing that arrives is believed: lengths are bounded, unknown kinds are errors.
package wire
