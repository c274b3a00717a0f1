package mapreduce

import (
	"bytes"
	"testing"
)

// The reported memory is the memory that data has used: almost all of it if little is allowed, and no
// more than the data and its entries need if much is allowed.
func TestMemory(t *testing.T) {
	const lines = 30_000
	in := bytes.Repeat([]byte("one\ntwo\nthree\n"), lines/3)
	const entry, slots, writer = 24, 2 << 20, 1 << 20 // bytes
	most := int64(3*len(in) + lines*entry + slots + writer)
	for _, tt := range []struct{ allowed, mapLow, mapHigh, reduceHigh int64 }{
		{64 << 10, 48 << 10, 64 << 10, 64 << 10},
		{256 << 20, int64(len(in)), most, 2 << 20},
	} {
		c := newCluster(t, in)
		c.memory, c.reducer = tt.allowed, command("cat")
		c.mapper = command("awk '{ print $0 NR }'") // nothing repeats
		c.run()
		m, r := c.progress[0].memory, c.progress[1].memory
		if m < tt.mapLow || m > tt.mapHigh || r == 0 || r > tt.reduceHigh {
			t.Errorf("with %d bytes allowed a map told %d, a reduce %d", tt.allowed, m, r)
		}
	}
}
