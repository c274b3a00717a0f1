// Package scenario makes simulations of what people write: a cluster, the jobs of others,
// jobs of one's own, and ways to bring them to the cluster. It reads scenarios (TOML, the
// keys are in docs/simulate.md) and the logs that they name, draws the workload of each
// replication, runs every way on the same jobs and tells what it came to.
//
// What cannot be is told before anything is simulated, with file and line or flag, all at
// once. What a scenario comes to is a function of its text, the logs and the seed.
package scenario

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/job"
	"berth/internal/sim"
	"berth/internal/sim/batch"
	"berth/internal/workload"
)

// Scenario is what is simulated.
type Scenario struct {
	Name         string // of its file; empty where flags say all
	Seed         uint64
	Replications int
	Cluster      sim.Cluster
	Policy       batch.Policy
	Faults       sim.Faults
	Ways         []Way
	Notes        []string // what a reader of the result is to know of the logs

	doc     *Document
	limited bool // the queue's maximum time is said
	rigid   []rigidSource
	elastic []elasticSource
}

// Way is how elastic jobs come to the cluster, under a name.
type Way struct {
	Name    string
	Adaptor sim.Adaptor
}

// Open reads a scenario and the logs that it names.
func Open(path string) (*Scenario, error) {
	d, err := OpenDocument(path)
	if err != nil {
		return nil, err
	}
	return d.Scenario(nil)
}

// OpenDocument reads a document from a file.
func OpenDocument(path string) (*Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		code := job.CodeIO
		if os.IsNotExist(err) {
			code = job.CodeNoInput
		}
		return nil, &job.Error{Class: job.User, Code: code, What: "cannot read the scenario", Err: err}
	}
	return ParseDocument(path, filepath.Dir(path), data)
}

// Scenario returns what the document says, with the logs that it names read; stdin is the
// one that is called "-".
func (d *Document) Scenario(stdin io.Reader) (*Scenario, error) {
	s, err := d.parse()
	if err != nil {
		return nil, err
	}
	if err := s.load(stdin); err != nil {
		return nil, err
	}
	return s, s.check()
}

// parse reads the keys, and no file.
func (d *Document) parse() (*Scenario, error) {
	r := &reader{doc: d}
	s := &Scenario{Name: d.name, doc: d}
	s.read(r.root())
	if len(s.rigid)+len(s.elastic) == 0 && len(r.errs) == 0 {
		r.bad("", "there are no jobs", "write [[rigid]] or [[elastic]]")
	}
	return s, r.err()
}

func (s *Scenario) read(t *table) {
	s.Seed = uint64(t.count("seed", 0, 1<<62, 1))
	s.Replications = int(t.count("replications", 1, 100_000, 1))
	s.readCluster(t)
	for _, each := range t.list("rigid") {
		s.rigid = append(s.rigid, readRigid(each))
	}
	for _, each := range t.list("elastic") {
		s.elastic = append(s.elastic, readElastic(each))
	}
	s.readWays(t)
	s.readFaults(t.sub("faults"))
	t.done()
}

func (s *Scenario) readCluster(root *table) {
	c := &s.Cluster
	s.Policy, c.Cores, c.StartUp = batch.CBF, 1, defaultStartUp
	t := root.sub("cluster")
	if t == nil {
		return // check says that nodes are missing, unless a log tells them
	}
	c.Nodes = int(t.count("nodes", 1, maxNodes, 0))
	c.Cores = int(t.count("cores", 1, 1024, 1))
	names := []string{string(batch.CBF)}
	for _, p := range batch.Policies {
		if p != batch.CBF {
			names = append(names, string(p))
		}
	}
	s.Policy = batch.Policy(t.word("policy", names...))
	c.MaxTime, s.limited = t.limit("max_time"), t.has("max_time")
	c.StartUp = t.span("start_up", 0, defaultStartUp)
	readSpeeds(t, c)
	t.done()
}

const (
	maxNodes       = 1_000_000
	defaultStartUp = 5 * time.Second // what plan takes the start of workers to last
)

// readSpeeds takes a list of the nodes' speeds, or [[cluster.speed]]: so many nodes of a
// speed, the others being of speed 1.
func readSpeeds(t *table, c *sim.Cluster) {
	if v, ok := t.get("speeds"); ok {
		items, ok := v.([]any)
		if !ok || len(items) != c.Nodes {
			t.bad("speeds", "speeds is not a list of as many numbers as there are nodes", "write one for each of the nodes, or [[cluster.speed]] with nodes and speed")
			return
		}
		for _, item := range items {
			c.Speeds = append(c.Speeds, t.checked("speeds", item, 0.001, 1000, 1))
		}
	}
	for i, each := range t.list("speed") {
		n, speed := each.count("nodes", 1, maxNodes, 0), each.number("speed", 0.001, 1000, 1)
		each.done()
		if i == 0 && t.has("speeds") {
			t.bad("speed", "there are both speeds and [[cluster.speed]]", "leave one out")
			return
		}
		if int64(len(c.Speeds))+n > int64(c.Nodes) {
			each.bad("nodes", "these are more nodes than there are", "")
			return
		}
		for range n {
			c.Speeds = append(c.Speeds, speed)
		}
	}
	for len(c.Speeds) > 0 && len(c.Speeds) < c.Nodes {
		c.Speeds = append(c.Speeds, 1)
	}
}

func (s *Scenario) readFaults(t *table) {
	if t == nil {
		return
	}
	s.Faults = sim.Faults{
		NodeMTBF: t.span("node_mtbf", time.Second, 0), Repair: t.span("repair", 0, 0),
		SlowMTBF: t.span("slow_mtbf", time.Second, 0), SlowFor: t.span("slow_for", time.Millisecond, 0),
		SlowBy: t.number("slow_by", 0.001, 1e6, 0), TaskFails: t.number("task_fails", 0, 1, 0),
	}
	t.done()
	need := func(key, with string) {
		if t.has(with) && !t.has(key) {
			t.bad(with, key+" is missing", "say it beside "+with)
		}
	}
	need("slow_for", "slow_mtbf")
	need("slow_by", "slow_mtbf")
	need("repair", "node_mtbf")
}

// relative returns the path of a file that a key names: those of a document lie where it
// lies, those of flags where the user is.
func (s *Scenario) relative(key, path string) string {
	if _, flag := s.doc.flags[key]; flag || path == "-" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.doc.dir, path)
}

// at says for people where a source is, "jobs.toml:7" or "--maps".
func (s *Scenario) at(path string) string { return s.doc.where(strings.TrimSuffix(path, ".")) }

// rigidSource is where jobs of others come from: one of these.
type rigidSource struct {
	path       string // of its table in the document
	swf, sacct string // files
	lublin     *lublinSource
	jobs       []workload.Rigid // as written or as read

	odd          workload.OnOdd
	filter       bool
	from, length time.Duration // the window of a log; 0: all
	estimates    string
	factor       float64 // of estimates = "model"
}

type lublinSource struct {
	params workload.Lublin
	jobs   int           // so many; 0: those that come …
	length time.Duration // … in this time
}

// elasticSource is where jobs of one's own come from: one of these.
type elasticSource struct {
	path         string
	swim         string // a file
	from, length time.Duration
	facebook     *facebookSource
	own          *ownSource
	users        int
	jobs         []workload.Elastic // as read
}

type facebookSource struct {
	params workload.Facebook
	jobs   int
	length time.Duration
}

// ownSource is jobs that are all alike.
type ownSource struct {
	name                                    string
	user                                    int64
	submit                                  job.Time
	repeat                                  int
	every                                   time.Duration
	spread                                  bool // evenly over the time in which jobs of others come
	maps, reduces                           int
	mapTime, reduceTime, shuffleTime, first workload.Normal
	shuffles, firsts                        bool // whether there are such times
}
