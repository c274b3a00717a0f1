// Package catalogue reads the types of machines that a user can rent from a TOML file: their prices and limits, and
// how long a task takes on them. docs/rented.md describes every key.
//
//	c, err := catalogue.Read("types.toml", data, catalogue.Task{Seconds: 30})
//	set, _ := front.NewModel(bag, c.Types).Search(0)
//
// The package opens no files: the caller reads them. Its errors name the file and the line.
package catalogue

import (
	"fmt"
	"math"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan/front"
	"berth/internal/core/tomlfile"
)

// Task is the knowledge about the tasks, for types that do not define how long a task takes.
type Task struct {
	Seconds float64 // of computing on a core of speed 1; 0: unknown
	Need    job.Resources
	Times   map[string]float64 // measured seconds, by type; they go before all other values
	Rates   map[string]float64 // measured bytes/s of a machine, by type, for types without rate; nil or 0: unknown
	Speeds  bool               // types define speed, not task_time, because tasks have different lengths
}

// Catalogue is the types of machines to choose from.
type Catalogue struct {
	Types    []front.Type
	Rented   []job.Rented // by type: how to rent a machine; without a count
	Transfer float64      // price of moving a byte

	Region   string        // of the provider; empty: the user's default
	Patience time.Duration // how long a machine may take to become ready; 0: not set
}

// gigabyte is the number of bytes that a price of data covers.
const gigabyte = 1 << 30

// Read reads a catalogue. name is the name of the file in errors. The error lists everything that is wrong, with
// lines.
func Read(name string, data []byte, task Task) (Catalogue, error) {
	d, err := tomlfile.Parse(name, data)
	if err != nil {
		return Catalogue{}, err
	}
	r := tomlfile.NewReader(d, nil)
	root := r.Root()
	c := Catalogue{
		Transfer: root.Number("transfer_price", 0, 1e9, 0) / gigabyte, Region: root.Text("region", ""),
		Patience: job.Seconds(seconds(root, "patience", 0)),
	}
	all := rental{image: root.Text("image", ""), user: root.Text("user", ""), subnet: root.Text("subnet", ""), groups: readNames(root, "security_groups")}
	seen := map[string]bool{}
	for _, t := range root.List("type") {
		own := all.withSettings(t)
		for _, one := range readType(t, task, own.has) {
			if seen[one.Name] {
				t.Bad("name", fmt.Sprintf("there are two types %q", one.Name), "give each a name of its own")
			}
			seen[one.Name] = true
			c.Types, c.Rented = append(c.Types, one), append(c.Rented, own.rented(one))
		}
		t.Done()
	}
	root.Done()
	if len(c.Types) == 0 && r.Err() == nil {
		r.Add(job.ConfigError(name, "it defines no type of machine", "write one with [[type]], name and price"))
	}
	return c, r.Err()
}

// readType reads a type: one on demand, and a second one at its spot price if it has one.
func readType(t *tomlfile.Table, task Task, has job.Resources) []front.Type {
	one := front.Type{
		Name: t.Text("name", ""), Unit: seconds(t, "unit", 1), Minimum: seconds(t, "minimum", 0), Boot: seconds(t, "boot", 0),
		Price: t.Number("price", 0, 1e9, math.NaN()), Rate: t.Size("rate"), Limit: int(t.Count("limit", 0, 100_000, 10)),
	}
	if one.Name == "" {
		t.Bad("name", "a type has no name", `write name = "m1.medium"`)
	}
	if math.IsNaN(one.Price) {
		t.Bad("price", "the type has no price", "write price = 0.13, in money an hour")
	}
	if one.Unit <= 0 {
		t.Bad("unit", "unit is not above 0", `write unit = "1h" or "1s"`)
	}
	if one.Rate == 0 {
		one.Rate = task.Rates[one.Name]
	}
	one.Slots, one.Task = slots(t, task, has), taskTime(t, task)
	spot, hourly := t.Number("spot_price", 0, 1e9, math.NaN()), t.Number("interruptions", 0, 3600, 0)
	if math.IsNaN(spot) {
		return []front.Type{one}
	}
	cheap := one
	cheap.Name, cheap.Price, cheap.Interruptions = one.Name+job.SpotEnd, spot, hourly
	return []front.Type{one, cheap}
}

// taskTime returns the seconds that a task computes on a machine of the type.
func taskTime(t *tomlfile.Table, task Task) float64 {
	speed := t.Number("speed", 1e-6, 1e6, 1)
	if measured := task.Times[t.Text("name", "")]; measured > 0 {
		t.Expect("task_time")
		return measured
	}
	if t.Has("task_time") {
		if task.Speeds {
			t.Bad("task_time", "the tasks have different lengths, so a type cannot define task_time", "write speed = 2 instead: a task takes half as long as on a core of speed 1")
		}
		return seconds(t, "task_time", 0)
	}
	if task.Seconds <= 0 {
		t.Bad("task_time", "the time of a task on this type is unknown",
			`write task_time = "30s", or give --task-time and the type's speed`)
	}
	return task.Seconds / speed
}

// slots returns how many tasks a machine of the type computes at once.
func slots(t *tomlfile.Table, task Task, has job.Resources) int {
	need := task.Need
	if has.CPUs == 0 { // unknown, as the memory may be
		has.CPUs = max(1, need.CPUs)
	}
	if has.Mem == 0 {
		need.Mem = 0
	}
	n := has.Slots(need)
	if n == 0 {
		t.Bad("name", "no task fits a machine of the type", "remove the type, write its gpus, or request less with --cpus-per-task, --mem and --gpus")
	}
	return n
}

// seconds reads a duration, "90s" or a number of seconds.
func seconds(t *tomlfile.Table, key string, otherwise float64) float64 {
	v, there := t.Get(key)
	text, isText := v.(string)
	switch {
	case !there:
		return otherwise
	case !isText:
		return t.Checked(key, v, 0, 1e9, otherwise)
	}
	d, err := parse.Duration(t.Where(key), text)
	if err != nil {
		t.Add(err)
		return otherwise
	}
	return float64(d) / float64(time.Second)
}
