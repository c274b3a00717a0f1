package workload

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestPinned checks that these seeds still give the same jobs. A change here changes every published
// figure.
func TestPinned(t *testing.T) {
	got := ""
	for _, types := range AllTypes {
		for _, j := range Drawn(NewLublin(Lublin{Nodes: 128, Types: types}, newRand(1)).Next, 3, 0) {
			got += fmt.Sprintf("%s %v %d %v\n", types, j.Submit.Sub(0), j.Nodes, j.Run)
		}
	}
	for _, j := range Drawn(NewLublin(Lublin{Nodes: 128, PeakHour: true}, newRand(1)).Next, 3, 0) {
		got += fmt.Sprintf("peak %v %d %v\n", j.Submit.Sub(0), j.Nodes, j.Run)
	}
	for _, e := range Drawn(NewFacebook(Facebook{Users: 9}, newRand(1)).Next, 3, 0) {
		work := time.Duration(0)
		for _, d := range slices.Concat(e.Maps, e.Reduces) {
			work += d
		}
		got += fmt.Sprintf("facebook %v bin %d user %d %v %v\n", e.Submit.Sub(0), e.Bin, e.User, e.Maps[0], work.Seconds())
	}
	if got != pinned {
		t.Errorf("got\n%s", got)
	}
}

const pinned = `typed 51.143s 1 11.508s
typed 1m9.304s 8 42.966s
typed 5m2.162s 1 4.539s
typeless 1m27.204s 2 46.022s
typeless 3m38.502s 4 11.405s
typeless 7m36.852s 1 2h10m9.103s
batch 1m9.304s 4 3m30.229s
batch 3m6.924s 8 42.966s
batch 7m26.152s 1 4h25m22.259s
interactive 33.836s 2 11.508s
interactive 1m24.979s 4 4.551s
interactive 2m59.743s 1 4.539s
peak 5.622s 2 8.022s
peak 7.276s 1 1m38.56s
peak 11.071s 29 2h38m45.686s
facebook 7.559s bin 1 user 3 1m31.398s 91.398
facebook 39.229s bin 1 user 3 1m0.135s 60.135
facebook 42.463s bin 4 user 7 1m25.531s 3027.142
`
