package parse

import (
	"reflect"
	"testing"

	"berth/internal/core/job"
)

func TestNodeRates(t *testing.T) {
	for text, want := range map[string][]job.NodeRate{
		"500M":                 {{Bytes: 500 << 20}},
		"1G/s":                 {{Bytes: 1 << 30}},
		"gpu*=2G, 500M":        {{Nodes: "gpu*", Bytes: 2 << 30}, {Bytes: 500 << 20}},
		"n[1-4]=100,fast=1.5K": {{Nodes: "n[1-4]", Bytes: 100}, {Nodes: "fast", Bytes: 1536}},
		"0":                    {{}},
	} {
		if got, err := NodeRates("--node-disk", text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "fast", "=3M", "n[=3M", "3M,", "a=b=3M", "-1"} {
		if got, err := NodeRates("--node-disk", text); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}

// TestRatesAmend: what a resumed job is told replaces all that it had been told of that kind.
func TestRatesAmend(t *testing.T) {
	s := &job.Spec{Request: job.Request{Rates: job.NodeRates{Disk: []job.NodeRate{{Bytes: 1}}, Net: []job.NodeRate{{Bytes: 2}}}}}
	a := &Ask{}
	for _, o := range Options() {
		if o.Name == "node-disk" {
			for _, v := range []string{"gpu*=7", "9"} {
				if err := o.Set(a, "--node-disk", v); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := a.Apply(s); err != nil {
		t.Fatal(err)
	}
	want := job.NodeRates{Disk: []job.NodeRate{{Nodes: "gpu*", Bytes: 7}, {Bytes: 9}}, Net: []job.NodeRate{{Bytes: 2}}}
	if !reflect.DeepEqual(s.Request.Rates, want) {
		t.Errorf("%+v", s.Request.Rates)
	}
}
