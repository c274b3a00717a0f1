package wire

import (
	"time"

	"berth/internal/event"
	"berth/internal/job"
)

// Message is anything that goes over the wire between coordinator and worker. Check refuses
// values that no berth sends and that would lead an index or a comparison astray.
type Message interface{ Check() error }

// messages are the types of messages, by the numbers of their kinds in a frame. Numbers are
// never given anew.
var messages = map[byte]Message{
	// From worker to coordinator.
	kindHello: &Hello{},
	2:         &Heartbeat{},
	3:         &PhaseEntered{},
	4:         &GrantWanted{},
	5:         &CommitWanted{},
	6:         &Ended{},
	7:         &FetchFailed{},
	8:         &Retiring{},
	9:         &Synced{},

	// From coordinator to worker.
	65: &Welcome{},
	66: &HeartbeatAck{},
	67: &Job{},
	68: &Start{},
	69: &Kill{},
	70: &Grant{},
	71: &Commit{},
	72: &Locate{},
	73: &Forget{},
	74: &EndedAck{},
	75: &Shutdown{},
	76: &Sync{},
}

// kindHello is the number of the kind of Hello, in every version.
const kindHello = 1

// Version is the protocol's version; a worker of another version is turned away.
const Version = 4

// Hello is a worker's first message on a connection.
type Hello struct {
	Version  int           `msgpack:"v"`
	Node     job.NodeID    `msgpack:"n"`
	Host     string        `msgpack:"h"`
	Addr     string        `msgpack:"a"` // host:port of its shuffle server
	PID      int           `msgpack:"p"`
	Capacity job.Resources `msgpack:"c"`
	Running  []job.Attempt `msgpack:"r"`            // running, or ended and not yet acknowledged
	Held     []job.Attempt `msgpack:"o"`            // map outputs that are whole on its disk
	Outputs  string        `msgpack:"od,omitempty"` // folder of its map outputs, where other nodes can read it; empty: they cannot
	Type     string        `msgpack:"t,omitempty"`  // of its processors (predict.NodeType)
	Apart    bool          `msgpack:"ap,omitempty"` // it does not see the folders of jobs, and is not to know the user's environment
}

// Welcome answers Hello. A worker that hears nothing for Lease stops committing
// without a grant; it asks anew once it is welcome again.
type Welcome struct {
	Heartbeat time.Duration `msgpack:"h"` // interval that the worker shall keep
	Lease     time.Duration `msgpack:"l"`
}

// Heartbeat says that the worker lives; HeartbeatAck that the coordinator does.
type Heartbeat struct {
	Progress []Progress `msgpack:"p,omitempty"`
}

// Progress is how far a running attempt has come, and in it its present phase.
type Progress struct {
	job.Progress `msgpack:",inline"`
	Phase        job.Phase `msgpack:"p"`            // PhaseNone: it waits for a grant
	BytesIn      int64     `msgpack:"bi,omitempty"` // by the phase
	BytesOut     int64     `msgpack:"bo,omitempty"` // by the phase
	Part         float64   `msgpack:"pf"`           // of the phase's input that is read, 0…1; −1: unknown
	Status       string    `msgpack:"st,omitempty"` // the last reporter:status line
}

// HeartbeatAck answers Heartbeat.
type HeartbeatAck struct{}

// PhaseEntered says that an attempt began a phase.
type PhaseEntered struct {
	Attempt job.Attempt `msgpack:"a"`
	Phase   job.Phase   `msgpack:"p"`
}

// GrantWanted asks for a grant for a phase.
type GrantWanted struct {
	Attempt job.Attempt `msgpack:"a"`
	Phase   job.Phase   `msgpack:"p"`
}

// CommitWanted asks to put an attempt's complete output into place.
type CommitWanted struct {
	Attempt job.Attempt `msgpack:"a"`
}

// Ended says how an attempt ended. The worker keeps it until EndedAck.
type Ended struct {
	event.AttemptEnded `msgpack:",inline"`
}

// FetchFailed says that a map output could not be fetched or is damaged.
type FetchFailed struct {
	By     job.Attempt `msgpack:"b"`
	Map    job.Attempt `msgpack:"m"`
	Addr   string      `msgpack:"a,omitempty"` // where it was looked for
	Reason string      `msgpack:"r"`
}

// Retiring says that the worker was told to end, as when its allocation's time is over: it
// starts nothing any more, kills what runs, tells how that ended (event.Lost, unless it was
// done), and hangs up for good once that is acknowledged.
type Retiring struct {
	Reason string `msgpack:"r"`
}

// Job tells a worker about a job, before its first Start.
type Job struct {
	Spec    []byte `msgpack:"s"` // job.Spec as JSON
	RunDir  string `msgpack:"d"` // the run's folder, for logs
	Maps    int    `msgpack:"m"` // MapReduce: number of map tasks
	Reduces int    `msgpack:"r"` // MapReduce: number of reduce tasks
}

// Start starts an attempt. Entry is set for bag tasks, Split for maps.
type Start struct {
	Attempt   job.Attempt   `msgpack:"a"`
	Entry     job.Entry     `msgpack:"e,omitempty"`
	Split     *job.Split    `msgpack:"s,omitempty"`
	Through   job.Phase     `msgpack:"l"`
	Commit    bool          `msgpack:"c,omitempty"`
	Expected  time.Duration `msgpack:"x,omitempty"` // how long such a task is expected to take; 0: unknown
	job.Grant `msgpack:",inline"`
}

// Kill ends an attempt.
type Kill struct {
	Attempt job.Attempt `msgpack:"a"`
	Reason  string      `msgpack:"r"`
}

// Grant lets an attempt run up to and including a phase.
type Grant struct {
	Attempt   job.Attempt `msgpack:"a"`
	Phase     job.Phase   `msgpack:"p"`
	job.Grant `msgpack:",inline"`
}

// Commit lets an attempt put its output into place.
type Commit struct {
	Attempt job.Attempt `msgpack:"a"`
}

// Locate tells where a map's output is.
type Locate struct {
	Map     job.Attempt `msgpack:"m"`
	Holder  job.NodeID  `msgpack:"h"`
	Addr    string      `msgpack:"a"`
	Outputs string      `msgpack:"od,omitempty"` // Holder's folder of map outputs, to be read in place; empty: ask Addr
}

// Forget lets the worker drop all it holds of a job.
type Forget struct {
	Job job.ID `msgpack:"j"`
}

// EndedAck says that the end of an attempt is in the journal.
type EndedAck struct {
	Attempt job.Attempt `msgpack:"a"`
}

// Shutdown ends the worker.
type Shutdown struct {
	Reason string `msgpack:"r"`
}

// Sync asks the worker to make durable the outputs of all bag tasks whose end it has told;
// Synced, with the same number, says that they are, or what is not.
type Sync struct {
	N int64 `msgpack:"n"`
}

// Synced answers Sync.
type Synced struct {
	N     int64  `msgpack:"n"`
	Error string `msgpack:"e,omitempty"`
}
