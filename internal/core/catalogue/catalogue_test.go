package catalogue

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
)

// TestRead: every key is read, a spot price makes a type of its own, and the task's values are used where the type
// has none.
func TestRead(t *testing.T) {
	c, err := Read("types.toml", []byte(`
transfer_price = 0.09
[[type]]
name = "m1"
price = 0.13
spot_price = 0.04
interruptions = 0.1
unit = "1h"
minimum = 60
boot = "90s"
task_time = 12.5
rate = "25M"
limit = 30
[[type]]
name = "c1"
price = 0.5
cores = 9
mem = "10G"
speed = 2
`), Task{Seconds: 30, Need: job.Resources{CPUs: 2, Mem: 4 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	m1 := front.Type{Name: "m1", Price: 0.13, Unit: 3600, Minimum: 60, Boot: 90, Task: 12.5, Rate: 25 << 20, Slots: 1, Limit: 30}
	spot := m1
	spot.Name, spot.Price, spot.Interruptions = "m1:spot", 0.04, 0.1
	want := []front.Type{m1, spot, {Name: "c1", Price: 0.5, Unit: 1, Task: 15, Slots: 2, Limit: 10}}
	if len(c.Types) != len(want) || c.Transfer != 0.09/(1<<30) {
		t.Fatalf("%+v", c)
	}
	for i := range want {
		if c.Types[i] != want[i] {
			t.Errorf("%+v, want %+v", c.Types[i], want[i])
		}
	}
}

// TestReadErrors: each error names its line.
func TestReadErrors(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "no type of machine"},
		{"[[type]]\nname = \"a\"\ntask_time = 1", "types.toml:1: the type has no price"},
		{"[[type]]\nprice = 1\ntask_time = 1", "types.toml:1: a type has no name"},
		{"[[type]]\nname = \"a\"\nprice = 1", "types.toml:1: the time of a task on this type is unknown"},
		{"[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1\nunit = \"0s\"", "types.toml:5: unit is not above 0"},
		{"[[type]]\nname = \"a\"\nprice = 1\ntask_time = \"soon\"", "types.toml:4"},
		{"[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1\nprise = 2", "types.toml:5: unknown key \"prise\""},
		{"[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1\n[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1", "types.toml:6: there are two"},
		{"[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1\nmem = \"1G\"\ncores = 1", "types.toml:2: no task fits"},
		{"[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1\ngpus = \"two\"", "types.toml:5: \"two\" is not a number of GPUs"},
		{"[[type]]\nname = \"a\"\nprice = -1\ntask_time = 1", "types.toml:3: price is -1"},
	} {
		_, err := Read("types.toml", []byte(tt.text), Task{Need: job.Resources{CPUs: 1, Mem: 2 << 30}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

// TestGPUs: a machine computes as many tasks at once as it has GPUs for, of their type.
func TestGPUs(t *testing.T) {
	for _, tt := range []struct {
		gpus  string
		need  job.Resources
		slots int
	}{
		{"gpus = 4", job.Resources{CPUs: 1, GPUs: 1}, 4},
		{`gpus = "4:a100"`, job.Resources{CPUs: 1, GPUs: 2, GPUType: "a100"}, 2},
		{`gpus = "4:a100"`, job.Resources{CPUs: 4, GPUs: 1}, 2},
		{`gpus = "4:a100"`, job.Resources{CPUs: 1}, 8},
		{`gpus = "4:a100"`, job.Resources{CPUs: 1, GPUs: 1, GPUType: "v100"}, 0},
		{"", job.Resources{CPUs: 1, GPUs: 1}, 0},
	} {
		c, err := Read("types.toml", []byte("[[type]]\nname = \"a\"\nprice = 1\ntask_time = 1\ncores = 8\n"+tt.gpus), Task{Need: tt.need})
		if tt.slots == 0 {
			if err == nil || !strings.Contains(err.Error(), "no task fits") {
				t.Errorf("%+v: %v", tt, err)
			}
			continue
		}
		if err != nil || c.Types[0].Slots != tt.slots {
			t.Errorf("%+v: %+v, %v", tt, c.Types, err)
		}
	}
}

// TestRented: settings at the top of the catalogue hold for all types without their own.
func TestRented(t *testing.T) {
	c, err := Read("types.toml", []byte(`
region = "eu-west-1"
patience = "4m"
image = "ami-1"
user = "admin"
security_groups = ["sg-1", "sg-2"]
[[type]]
name = "small"
instance = "m5.large"
price = 0.1
spot_price = 0.04
cores = 2
mem = "8G"
[[type]]
name = "c5.large"
price = 0.2
unit = "1h"
image = "ami-2"
security_groups = "sg-3"
subnet = "subnet-1"
`), Task{Seconds: 1})
	if err != nil {
		t.Fatal(err)
	}
	small := job.Rented{Name: "small", Instance: "m5.large", Has: job.Resources{CPUs: 2, Mem: 8 << 30}, Image: "ami-1", User: "admin", Groups: []string{"sg-1", "sg-2"}, Price: 0.1, Unit: 1, Limit: 10}
	spot := small
	spot.Name, spot.Price = "small:spot", 0.04
	large := job.Rented{Name: "c5.large", Instance: "c5.large", Image: "ami-2", User: "admin", Subnet: "subnet-1", Groups: []string{"sg-3"}, Price: 0.2, Unit: 3600, Limit: 10}
	if want := []job.Rented{small, spot, large}; !reflect.DeepEqual(c.Rented, want) {
		t.Errorf("%+v\nwant %+v", c.Rented, want)
	}
	if c.Region != "eu-west-1" || c.Patience != 4*time.Minute {
		t.Errorf("region %q, patience %v", c.Region, c.Patience)
	}
}
