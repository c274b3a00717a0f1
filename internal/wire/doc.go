// Package wire is the protocol between the coordinator and its workers: frames of MessagePack over
// mutual TLS, with keys that are valid for one coordinator only.
//
//	l, err := wire.Listen(addr, identity, refused)  // coordinator
//	conn, hello, err := l.Accept()
//	conn, err := wire.Dial(ctx, bundle)             // worker
//	err = conn.Send(&wire.Hello{...})
//
// A frame is a 4-byte big-endian length, a 1-byte message kind and the message. The package does
// not trust its input: lengths are bounded and unknown kinds are errors. It moves and checks
// messages, and does not act on them.
package wire
