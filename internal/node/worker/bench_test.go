package worker

import (
	"log/slog"
	"strconv"
	"testing"

	"berth/internal/core/event"
	"berth/internal/wire"
)

// width is how many tasks run at once in the benchmarks, as in the product's figure.
const width = 2

// BenchmarkBagTask measures what a task of /bin/true costs from its start message
// to its end message, over real connections, with an output file for each stream.
// Compare it with process.BenchmarkSpawn, which does nothing but start and wait.
func BenchmarkBagTask(b *testing.B) {
	for _, bound := range []bool{false, true} {
		b.Run("bound="+strconv.FormatBool(bound), func(b *testing.B) {
			c := newCoord(b)
			cfg := c.config("a1/0")
			cfg.Log = slog.New(slog.DiscardHandler)
			if bound {
				cfg.CPUs = []int{0, 1}
			}
			p, _ := c.process(cfg)
			s := bag(b, "/bin/true")
			p.job(s, 0, 0)
			next := 0
			more := func() {
				if next < b.N {
					p.say(start(try(s.ID, next, 1), "x"))
					next++
				}
			}
			b.ResetTimer()
			for range width {
				more()
			}
			for range b.N {
				m := expect[wire.Ended](p)
				if m.Outcome != event.Done {
					b.Fatal(m.Reason)
				}
				p.say(&wire.EndedAck{Attempt: m.Attempt})
				more()
			}
			b.StopTimer()
			p.say(&wire.Shutdown{})
			p.gone()
		})
	}
}
