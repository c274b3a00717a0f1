package ui

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/server/report"
)

// usage is what two nodes gave: on one the disk is not known, on the other the network was not measured.
func usage() report.UsageView {
	of := func(has, mean, most float64, used ...float64) report.ResourceView {
		return report.ResourceView{Capacity: has, Mean: mean, Max: most, Used: used}
	}
	return report.UsageView{Jobs: []job.ID{"mr-1", "mr-2"}, Start: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC), StepS: 2, Nodes: []report.NodeUsageView{
		{Node: "a1/0", Host: "n<1>", CPU: of(4, 2, 4, 0, 1, 3, 4), Mem: of(1<<30, 1<<28, 1<<29, 0, 1<<28, 1<<28, 1<<29), Disk: of(0, 50<<20, 100<<20, 100<<20, 100<<20, 0, 0), Net: of(0, 0, 0, 0, 0, 0, 0)},
		{Node: "a1/1", CPU: of(4, 0.05, 0.1, 0.1, 0.1, 0, 0), Mem: of(1<<30, 1<<31, 1<<31, 1<<31, 1<<31, 1<<31, 1<<31), Disk: of(1<<20, 0, 0, 0, 0, 0, 0),
			Net: report.ResourceView{Capacity: 1 << 20, Used: make([]float64, 4), Unknown: true}},
	}}
}

// TestUsage: a curve goes from nothing to the capacity and no higher, and what little there is shows.
func TestUsage(t *testing.T) {
	var b strings.Builder
	if err := Usage(&b, usage(), Style{Width: 80, ASCII: true}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(b.String(), "\n")
	want := `
all nodes
  cpu  |.:-=|  mean 2.1, most 4 of 8 (26 %)
  mem  |@@@@|  mean 2.25G, most 2.5G of 2G (112 %)
  disk |@@  |  mean 50M/s, most 100M/s
  net  |    |  not measured
        0 8s

a1/0 (n<1>)
  cpu  | :*@|  mean 2, most 4 of 4 (50 %)
  mem  | ::=|  mean 256M, most 512M of 1G (25 %)
  disk |@@  |  mean 50M/s, most 100M/s
  net  |    |  mean 0B/s, most 0B/s
        0 8s

a1/1
  cpu  |..  |  mean 0.1, most 0.1 of 4 (1 %)
  mem  |@@@@|  mean 2G, most 2G of 1G (200 %)
  disk |    |  mean 0B/s, most 0B/s of 1M/s (0 %)
  net  |    |  not measured
        0 8s
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	b.Reset()
	if err := Usage(&b, report.UsageView{Jobs: []job.ID{"mr-1"}}, Style{Width: 80}); err != nil || b.String() != "mr-1: no phase is over yet\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestUsageSVG: the drawing is XML, whatever a host is called, and has a panel for each resource of each node and of both together.
func TestUsageSVG(t *testing.T) {
	var b strings.Builder
	if err := UsageSVG(&b, usage()); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			seen[e.Name.Local]++
		}
	}
	if seen["rect"] != 1+12 || !strings.Contains(b.String(), "M630 184V124.0H685.0V124.0H740.0V184.0H795.0V184.0H850.0V184Z") {
		t.Errorf("%v in\n%s", seen, b.String())
	}
}
