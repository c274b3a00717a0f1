// Package scenario turns a description written by a user into simulations: a cluster, rigid jobs of
// other users, elastic jobs, and adaptors to compare. It reads scenarios (TOML; docs/simulate.md
// lists the keys) and the logs that they name, draws the workload of each replication, runs every
// adaptor on the same jobs and reports the results:
//
//	doc, err := scenario.OpenDocument("scenario.toml")
//	s, err := doc.Scenario(nil)
//	report, err := s.Run(ctx, workers, func(scenario.Progress) {})
//	report.Text(os.Stdout)
//
// Invalid input is reported before anything is simulated, all errors together, each with file and
// line or flag. The result of a scenario is a function of its text, the logs and the seed; the
// package must not use the time or other machine state.
package scenario

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/batch"
	"berth/internal/simulate/sim"
	"berth/internal/simulate/workload"
)

// Scenario is the complete description of the simulations.
type Scenario struct {
	Name         string // of its file; empty if flags give everything
	Seed         uint64
	Replications int
	Cluster      sim.Cluster
	Policy       batch.Policy
	Faults       sim.Faults
	Ways         []Way
	Notes        []string // remarks about the logs for the reader of the result

	doc       *Document
	cloud     *sim.Cloud // nil: no machines can be rented
	catalogue string     // file of the machine types
	limited   bool       // the queue's maximum wall time is given
	rigid     []rigidSource
	elastic   []elasticSource
}

// Way is a named adaptor: a method by which elastic jobs request nodes.
type Way struct {
	Name    string
	Adaptor sim.Adaptor
}

// Document is the source text of a scenario.
type Document struct {
	*tomlfile.Document
	dir string // folder to which file names in the document are relative
}

// NewDocument returns a document without keys.
func NewDocument() *Document { return &Document{tomlfile.New(), ""} }

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

// ParseDocument parses TOML. name is the file's name in error messages, and dir the folder to which
// file names in the document are relative.
func ParseDocument(name, dir string, data []byte) (*Document, error) {
	d, err := tomlfile.Parse(name, data)
	if err != nil {
		return nil, err
	}
	return &Document{d, dir}, nil
}

// Scenario returns the scenario of the document and reads the logs that it names. The log "-" is
// stdin.
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

// parse reads the keys, but no file.
func (d *Document) parse() (*Scenario, error) {
	r := tomlfile.NewReader(d.Document, homes)
	s := &Scenario{Name: d.Name(), doc: d}
	s.read(r.Root())
	if len(s.rigid)+len(s.elastic) == 0 && r.Err() == nil {
		r.Bad("", "there are no jobs", "write [[rigid]] or [[elastic]]")
	}
	return s, r.Err()
}

// sample contains each kind of table that a scenario may have.
const sample = `
rigid = [{jobs = [{}]}, {lublin = {}}, {sacct = ""}, {swf = ""}]
elastic = [{facebook = {}}, {maps = 1, needs = [{}]}, {swim = ""}]
adaptor = [{}]
[cluster]
speed = [{}]
[cloud]
[faults]
`

func homes() []tomlfile.Home { return tomlfile.Homes(sample, new(Scenario).read) }

func (s *Scenario) read(t *tomlfile.Table) {
	s.Seed = uint64(t.Count("seed", 0, 1<<62, 1))
	s.Replications = int(t.Count("replications", 1, 100_000, 1))
	s.readCluster(t)
	s.readCloud(t.Sub("cloud"))
	for _, each := range t.List("rigid") {
		s.rigid = append(s.rigid, readRigid(each))
	}
	for _, each := range t.List("elastic") {
		s.elastic = append(s.elastic, readElastic(each))
	}
	s.readWays(t)
	s.readFaults(t.Sub("faults"))
	t.Done()
}

func (s *Scenario) readCluster(root *tomlfile.Table) {
	c := &s.Cluster
	s.Policy, c.Cores, c.StartUp = batch.CBF, 1, defaultStartUp
	t := root.Sub("cluster")
	if t == nil {
		return // check reports that nodes are missing, unless a log gives them
	}
	c.Nodes = int(t.Count("nodes", 1, maxNodes, 0))
	c.Cores = int(t.Count("cores", 1, 1024, 1))
	c.Memory = int64(t.Size("memory"))
	names := []string{string(batch.CBF)}
	for _, p := range batch.Policies {
		if p != batch.CBF {
			names = append(names, string(p))
		}
	}
	s.Policy = batch.Policy(t.Word("policy", names...))
	c.MaxTime, s.limited = limit(t, "max_time"), t.Has("max_time")
	c.StartUp = span(t, "start_up", 0, defaultStartUp)
	readSpeeds(t, c)
	t.Done()
}

const (
	maxNodes       = 1_000_000
	defaultStartUp = 5 * time.Second // default of package plan for the start of workers
)

// readSpeeds reads the list of the nodes' speeds, or the tables [[cluster.speed]] with a number of
// nodes and their speed. All other nodes have speed 1.
func readSpeeds(t *tomlfile.Table, c *sim.Cluster) {
	if v, ok := t.Get("speeds"); ok {
		items, ok := v.([]any)
		if !ok || len(items) != c.Nodes {
			t.Bad("speeds", "speeds is not a list with one number for each node", "write one number for each node, or use [[cluster.speed]] with nodes and speed")
			return
		}
		for _, item := range items {
			c.Speeds = append(c.Speeds, t.Checked("speeds", item, 0.001, 1000, 1))
		}
	}
	for i, each := range t.List("speed") {
		n, speed := each.Count("nodes", 1, maxNodes, 0), each.Number("speed", 0.001, 1000, 1)
		each.Done()
		if i == 0 && t.Has("speeds") {
			t.Bad("speed", "there are both speeds and [[cluster.speed]]", "leave one out")
			return
		}
		if int64(len(c.Speeds))+n > int64(c.Nodes) {
			each.Bad("nodes", "these are more nodes than the cluster has", "reduce nodes, or enlarge the cluster")
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

func (s *Scenario) readFaults(t *tomlfile.Table) {
	if t == nil {
		return
	}
	s.Faults = sim.Faults{
		NodeMTBF: span(t, "node_mtbf", time.Second, 0), Repair: span(t, "repair", 0, 0),
		SlowMTBF: span(t, "slow_mtbf", time.Second, 0), SlowFor: span(t, "slow_for", time.Millisecond, 0),
		SlowBy: t.Number("slow_by", 0.001, 1e6, 0), TaskFails: t.Number("task_fails", 0, 1, 0),
	}
	t.Done()
	need := func(key, with string) {
		if t.Has(with) {
			t.Need(key, with, "write "+key+" as well, or leave out "+with)
		}
	}
	need("slow_for", "slow_mtbf")
	need("slow_by", "slow_mtbf")
	need("repair", "node_mtbf")
}

// relative returns the path of a file that a key names. Paths in a document are relative to its
// folder, and paths in flags to the working directory.
func (s *Scenario) relative(key, path string) string {
	if s.doc.Flag(key) != "" || path == "-" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.doc.dir, path)
}

// at returns the position of a source for people: "jobs.toml:7" or "--maps".
func (s *Scenario) at(path string) string { return s.doc.Where(strings.TrimSuffix(path, ".")) }

// rigidSource is one source of rigid jobs; exactly one of the kinds below is set.
type rigidSource struct {
	path       string // of its table in the document
	swf, sacct string // files
	lublin     *lublinSource
	jobs       []workload.Rigid // as written or as read

	odd          workload.OnOdd
	filter       bool
	from, length time.Duration // the window of a log; 0: the whole log
	estimates    string
	factor       float64 // for estimates = "model"
}

type lublinSource struct {
	params workload.Lublin
	jobs   int           // number of jobs; 0: as many as arrive within length
	length time.Duration // for jobs 0
}

// elasticSource is one source of elastic jobs; exactly one of the kinds below is set.
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

// ownSource is a number of equal jobs.
type ownSource struct {
	name                                    string
	user                                    int64
	submit                                  job.Time
	repeat                                  int
	every                                   time.Duration
	spread                                  bool // submit them evenly over the time in which rigid jobs arrive
	maps, reduces                           int
	mapTime, reduceTime, shuffleTime, first workload.Normal
	shuffles, firsts                        bool // whether these times are given
	needs                                   []needsSource
}

// needsSource is tasks of a bag with needs of their own, besides the others.
type needsSource struct {
	tasks int
	time  workload.Normal
	job.Needs
}
