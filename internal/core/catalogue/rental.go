package catalogue

import (
	"cmp"
	"fmt"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/job/parse"
	"berth/internal/core/plan/front"
	"berth/internal/core/tomlfile"
)

// rental is the settings with which a provider rents a machine. Settings at the top of the catalogue hold for all
// types without their own.
type rental struct {
	image, user, subnet, instance string
	groups                        []string
	has                           job.Resources
}

// withSettings returns the settings of a type, with those of the catalogue as defaults.
func (r rental) withSettings(t *tomlfile.Table) rental {
	r.image, r.user, r.subnet = t.Text("image", r.image), t.Text("user", r.user), t.Text("subnet", r.subnet)
	if t.Has("security_groups") {
		r.groups = readNames(t, "security_groups")
	}
	r.instance = t.Text("instance", "")
	r.has = job.Resources{CPUs: int(t.Count("cores", 1, job.MaxCPUs, 0)), Mem: int64(t.Size("mem"))}
	if v, there := t.Get("gpus"); there {
		var err error
		if r.has.GPUs, r.has.GPUType, err = parse.GPUs(t.Where("gpus"), fmt.Sprint(v)); err != nil {
			t.Add(err)
		}
	}
	return r
}

// rented returns how to rent a machine of a type.
func (r rental) rented(t front.Type) job.Rented {
	return job.Rented{Name: t.Name, Instance: cmp.Or(r.instance, strings.TrimSuffix(t.Name, job.SpotEnd)), Has: r.has, Image: r.image, User: r.user, Subnet: r.subnet, Groups: r.groups,
		Price: t.Price, Unit: t.Unit, Minimum: t.Minimum, Boot: t.Boot, Limit: t.Limit}
}

// readNames reads a list of names: a list, or a text with commas.
func readNames(t *tomlfile.Table, key string) []string {
	v, there := t.Get(key)
	if !there {
		return nil
	}
	if text, is := v.(string); is {
		return strings.Split(text, ",")
	}
	list, ok := v.([]any)
	var all []string
	for _, one := range list {
		text, is := one.(string)
		ok = ok && is && text != ""
		all = append(all, text)
	}
	if !ok {
		t.Wrong(key, v, "a list of names")
	}
	return all
}

// Forecast returns the prediction of a point of a front for a bag of that many tasks. Its use of the data server is
// the mean over the whole run; the point has the use while all machines have tasks.
func Forecast(p front.Point, tasks int) *job.Forecast {
	return &job.Forecast{Cost: p.Cost, Makespan: p.Makespan, ServerUse: p.Use * float64(tasks) / (p.Rate * p.Makespan)}
}
