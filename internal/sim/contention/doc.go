// Package contention models how phases of tasks that run on one node share its cores, its disk and its network.
//
// Each flow on a node has a demand: what it uses of each resource while it advances at full speed. Resources are
// shared max-min fairly, each by itself, as processor schedulers, fair disk queues and TCP do it about: a resource has a
// level, above which no flow is given of it, and a flow that wants less than the level gets all it wants. A flow
// advances at the least, over its resources, of given and demanded, and never faster than at its limit
// (models.md, Contention). What a flow cannot use, as another resource holds it up, the others have: so every
// flow that is slower than its limit uses a resource that is in full use. Memory is not shared: it is reserved
// or not there, and no matter of this package.
//
// A transfer between nodes is two flows, one on each: they advance by themselves, and it is done when both are. So
// only the node on which something begins or ends is computed anew, whatever else is connected with it.
//
// The package is pure and in float64. It is given times in seconds.
package contention
