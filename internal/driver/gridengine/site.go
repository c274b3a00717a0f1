package gridengine

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/driver"
	"berth/internal/driver/batch"
)

// site is the part of a cluster's configuration that requests and plans depend on.
type site struct {
	rules
	id, cluster  string
	queues       []queue
	environments []environment
	memory       []complex // consumables of memory
	forced       []complex // what jobs must request to run where it is, unless they always do
	properties   []complex // resources that are texts, or that hosts have or not
	gpus         complex   // the consumable that counts GPUs; its name is "" if there is none
	exclusive    string    // the resource that gives a host to one job alone; "": there is none
	slot, whole  float64   // urgency of a slot, and of that resource for each slot
}

// siteLives is how long the configuration counts as current.
const siteLives = 5 * time.Minute

// config returns the configuration, which is read every few minutes.
func (s *System) config(ctx context.Context) (*site, error) {
	return s.site.Get(siteLives, func() (*site, error) { return s.readConfig(ctx) })
}

func (s *System) readConfig(ctx context.Context) (*site, error) {
	said, err := s.all(ctx, "-ssconf", "-sconf", "-sc", "-sq *", "-srqs", "-spl")
	if err != nil {
		return nil, err
	}
	var asks []string
	for name := range strings.FieldsSeq(said[5]) {
		asks = append(asks, "-sp "+name)
	}
	environments := len(asks)
	for _, name := range differing(said[3]) {
		asks = append(asks, "-sq "+name+"@*")
	}
	more, err := s.all(ctx, asks...)
	if err != nil {
		return nil, err
	}
	admitted, err := s.admitted(ctx, parseObjects(strings.Join(more[:environments], "\n")))
	if err != nil {
		return nil, err
	}
	queues := strings.Join(slices.Insert(more[environments:], 0, said[3]), "\n")
	c := newSite(parseRules(said[0], said[1], said[4]), parseComplexes(said[2]), parseQueues(queues), admitted)
	c.cluster, c.id = s.identity()
	return c, nil
}

// admitted returns those of the parallel environments that the user may use.
func (s *System) admitted(ctx context.Context, environments []map[string]string) (mine []map[string]string, err error) {
	var asks []string
	for _, o := range environments {
		for _, name := range append(list(o["user_lists"]), list(o["xuser_lists"])...) {
			asks = append(asks, "-su "+name)
		}
	}
	if asks == nil {
		return environments, nil
	}
	lists, err := s.all(ctx, asks...)
	if err != nil {
		return nil, err
	}
	user, group := batch.UserName(s.User), ""
	if groups := s.Groups(ctx); groups != nil {
		group = groups[0]
	}
	member := memberships(strings.Join(lists, "\n"), user, group)
	return slices.DeleteFunc(environments, func(o map[string]string) bool { return !admits(o, member) }), nil
}

// all calls qconf with each of these arguments.
func (s *System) all(ctx context.Context, asks ...string) ([]string, error) {
	for i := range asks {
		asks[i] = "qconf " + asks[i]
	}
	said, errs := s.Each(ctx, asks...)
	for i, err := range errs {
		errs[i] = unlessEmpty(err)
	}
	return said, cmp.Or(errs...)
}

// newSite returns a site with these parts.
func newSite(r rules, complexes []complex, queues []queue, environments []map[string]string) *site {
	c := &site{rules: r, queues: queues}
	for _, o := range environments {
		c.environments = append(c.environments, environment{name: o["pe_name"], slots: parseCount(o["slots"]), rule: o["allocation_rule"]})
	}
	for _, x := range complexes {
		memory := x.consumed != "NO" && x.kind == "MEMORY" && ofMemory(x.name) && !ofOther(x.name)
		if x.forced && !memory && x.relation != "EXCL" && x.name != "h_rt" {
			c.forced = append(c.forced, x)
		}
		switch {
		case x.name == "slots":
			c.slot = x.urgency
		case x.relation == "EXCL":
			c.exclusive, c.whole = x.name, x.urgency
		case x.kind == "BOOL" || strings.HasSuffix(x.kind, "STRING"):
			c.properties = append(c.properties, x)
		case memory:
			c.memory = append(c.memory, x)
		case x.consumed == "NO":
		case ofGPUs(x.name) && (x.kind == "INT" || x.kind == "RSMAP"):
			c.gpus = x
		}
	}
	return c
}

// What names of resources say of what they count. A consumable of type MEMORY may also count disks, swap or the memory of GPUs.
var (
	ofMemory = driver.Says(`(?i)mem|rss|virtual|(^|_)ram(_|$)|^[hs]_data$`)
	ofOther  = driver.Says(`(?i)gpu|gmem|cuda|shm|swap`)
	ofGPUs   = driver.Says(`(?i)^(gpus?|ngpus|num_gpus)$`)
)

// identity returns the cluster's name and an id that distinguishes clusters of the same name. The id can be a file's name.
func (s *System) identity() (name, id string) {
	common := s.common()
	text, _ := os.ReadFile(filepath.Join(common, "cluster_name")) // without it, the cell has the name
	name = cmp.Or(strings.TrimSpace(string(text)), filepath.Base(filepath.Dir(common)))
	if root, err := filepath.EvalSymlinks(common); err == nil {
		common = root
	}
	return name, batch.ClusterID(name, common, job.Getenv(s.User, "SGE_QMASTER_PORT"))
}
