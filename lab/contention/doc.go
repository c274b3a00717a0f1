// Package contention models how the phases of tasks that run on one node share its cores, its disk
// and its network.
//
// Each flow on a node has a demand: the rate at which it uses each resource at full speed. Each
// resource is shared max-min fairly by itself, similar to processor schedulers, fair disk queues and
// TCP: the resource has a level, and a flow gets the smaller of its demand and the level. The speed
// of a flow is the smallest ratio of received to demanded rate over its resources, and at most its
// limit (models.md, Contention). The part of a resource that a flow cannot use, because another
// resource limits it, goes to the other flows. So every flow that is slower than its limit uses a
// resource that is fully used. Memory is not part of this package, because it is reserved and not
// shared.
//
// A transfer between nodes consists of two flows, one on each node, which advance independently. The
// transfer ends when both have ended. So an event changes the speeds on one node only, whatever
// other nodes it exchanges data with.
//
//	n := contention.NewNode(contention.Rates{contention.CPU: 8, contention.Disk: 200e6}, 0)
//	n.Add(now, &contention.Flow{Demand: demand, Limit: 1, Left: 30})
//	n.Ended(n.Next(), nil) // the flow that ends first
//
// Times are float64 seconds, given by the caller. The package is pure: it must not use a clock,
// files, goroutines or randomness.
package contention
