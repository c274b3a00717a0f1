package bound

import (
	"math"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/simulate/workload"
)

const s = time.Second

func at(seconds int) job.Time { return job.Time(seconds) * job.Time(s) }

// TestByHand compares the bounds with values computed by hand.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine *Machine
		elastic []workload.Elastic
		rigid   []workload.Rigid
		want    Bounds
	}{
		{"nothing", NewMachine(1, 1, nil), nil, nil, Bounds{}},
		{
			// 10 core-seconds on 4 cores; 4 tasks at once need 3 s. The middle of the work is at
			// 1.25 s. The tail is (1+4+9+16)/10/2 = 1.5 s. The longest task takes 4 s.
			"one bag", NewMachine(2, 2, nil),
			[]workload.Elastic{{Submit: at(7), Maps: []time.Duration{1 * s, 2 * s, 3 * s, 4 * s}}},
			nil, Bounds{Area: 2.5, Height: 4, Joint: 4},
		},
		{
			// Shortest remaining work first: the second job interrupts the first (from 1 to 2), and
			// the first ends at 4. The middle of the first job's work is at (0.5 + 2.5 + 3.5) / 3,
			// and that of the second job's at 1.5.
			"one core", NewMachine(1, 1, nil),
			[]workload.Elastic{{Maps: []time.Duration{3 * s}}, {Submit: at(1), Maps: []time.Duration{1 * s}}},
			nil, Bounds{Area: 2.5, Height: 2, Joint: (6.5/3 + 1.5 + 1.5 - 1 + 0.5) / 2},
		},
		{
			// The maps take 2 s on cores of speed 2, followed by the shuffle and the reduce.
			"maps and reduces", NewMachine(2, 1, []float64{2, 1}),
			[]workload.Elastic{{
				Maps: []time.Duration{4 * s}, Reduces: []time.Duration{2 * s, 1 * s},
				FirstShuffle: []time.Duration{3 * s, 9 * s}, Shuffle: []time.Duration{5 * s, 8 * s},
			}},
			nil, Bounds{Area: 7.0 / 3, Height: 2 + 8.5, Joint: 10.5},
		},
		{
			// Two jobs need both nodes and run one after the other.
			"rigid", NewMachine(2, 3, nil), nil,
			[]workload.Rigid{{Nodes: 2, Run: 10 * s, Request: 12 * s}, {Nodes: 2, Run: 30 * s, Request: 10 * s}},
			Bounds{Area: 15, Height: 10, Joint: 15},
		},
		{
			// On the slow node the job uses 10 of the 30 core-seconds available in 10 s.
			"rigid on unequal nodes", NewMachine(2, 1, []float64{2, 1}), nil,
			[]workload.Rigid{{Nodes: 1, Run: 10 * s, Request: 10 * s}},
			Bounds{Area: 10.0 / 3, Height: 10, Joint: 10},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.machine.Mean(c.rigid, c.elastic)
			if !near(got.Area, c.want.Area) || !near(got.Height, c.want.Height) || !near(got.Joint, c.want.Joint) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
			if got.Best() != max(got.Area, got.Height, got.Joint) {
				t.Errorf("the best of %+v is %v", got, got.Best())
			}
		})
	}
}

// near compares with a tolerance of half a millisecond a task, for cores of speeds other than 1.
func near(a, b float64) bool { return math.Abs(a-b) <= 0.0021 }
