package worker

import (
	"strings"
	"testing"

	"berth/internal/core/event"
	"berth/internal/core/job"
)

// A task that makes more counters than its job may have is ended at once, and not tried
// again; those that are made again and again are no more than they are.
func TestTooManyCounters(t *testing.T) {
	for name, tt := range map[string]struct {
		conf   map[string]string
		mapper string
		reason string // empty: the map is done
	}{
		"as many as may be": {nil, `cat; for i in 1 2 3; do seq 1000 | sed 's/.*/reporter:counter:g,c&,1/' >&2; done`, ""},
		"bomb":              {nil, `cat; seq 800000 | sed 's/.*/reporter:counter:g,c&,1/' >&2; sleep 1000`, "more than 1000 counters"},
		"groups":            {nil, `cat; seq 201 | sed 's/.*/reporter:counter:g&,c,1/' >&2; sleep 1000`, "more than 200 groups of counters"},
		"key":               {map[string]string{job.CountersKey: "2"}, `cat; seq 3 | sed 's/.*/reporter:counter:g,c&,1/' >&2`, "-D mapreduce.job.counters.max=N"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := startWorker(t)
			s := streaming(t, fruit, []string{"sh", "-c", tt.mapper}, count)
			s.MapReduce.Conf = tt.conf
			p.job(s, 1, 1)
			p.say(startMap(s, 0, 1, split(s, 0, 100)))
			if tt.reason != "" {
				if m := p.ended(event.Broken); !strings.Contains(m.Reason, tt.reason) {
					t.Errorf("reason %q", m.Reason)
				}
				return
			}
			if m := p.ended(event.Done); m.Counters["g,c1000"] != 3 {
				t.Errorf("%d counters", len(m.Counters))
			}
		})
	}
}
