package rented

import (
	"sort"
)

// Network is a closed network of equal machines that share a data server. Each machine does one task after another:
// it moves the task's data and computes. Times are seconds per task and not negative; Compute and Transfer together
// are above 0.
type Network struct {
	Machines int     // at least 1
	Compute  float64 // computing
	Transfer float64 // moving a task's data, both ways, by a machine that uses the server alone
	Server   float64 // time of the server at full capacity for a task's data; 0: its capacity has no limit
}

// Load is the mean state of a network in equilibrium.
type Load struct {
	Throughput float64 // tasks/s
	Transfer   float64 // seconds of moving a task's data, with contention at the server
	Use        float64 // fraction of the server's capacity in use, 0…1
	Saturated  float64 // fraction of time in which the machines' demand exceeds the server's capacity
}

// negligible is the probability, relative to that of the most likely state, below which further states are left out.
const negligible = 1e-18

// tiny is the fraction of the compute time below which moving data counts as no time.
const tiny = 1e-15

// rate returns the rate in tasks/s at which the server serves j machines together: j·μ_D, at most μ_S (eq. 9 as a
// total rate).
func (n Network) rate(j int) float64 {
	return min(float64(j)/n.Transfer, 1/n.Server)
}

// ratio returns π(j)/π(j−1) for j machines at the server, which falls with j. The product form is π(j) ∝ ∏_{i=1..j}
// 1/r(i) · Compute^(K−j)/(K−j)!.
func (n Network) ratio(j int) float64 {
	return float64(n.Machines-j+1) / (n.Compute * n.rate(j))
}

// Solve returns the load of the network by its product form. It sums the states from the most likely one to both
// sides until they are negligible, which neither overflows nor cancels: at most K steps.
func (n Network) Solve() Load {
	switch {
	case max(n.Transfer, n.Server) <= tiny*n.Compute:
		return Load{Throughput: float64(n.Machines) / n.Compute}
	case n.Compute == 0:
		x := n.rate(n.Machines)
		return n.load(x, b2f(n.wants(n.Machines)))
	}
	mode := sort.Search(n.Machines, func(i int) bool { return n.ratio(i+1) < 1 })
	var all, flow, saturated float64
	add := func(j int, weight, rate float64) {
		all += weight
		flow += weight * rate
		if n.wants(j) {
			saturated += weight
		}
	}
	at := 0.0
	if mode > 0 {
		at = n.rate(mode)
	}
	add(mode, 1, at)
	for j, w := mode+1, 1.0; j <= n.Machines && w > negligible; j++ {
		rate := n.rate(j)
		w *= float64(n.Machines-j+1) / (n.Compute * rate)
		add(j, w, rate)
	}
	for j, w, rate := mode, 1.0, at; j >= 1 && w > negligible; j-- {
		w /= float64(n.Machines-j+1) / (n.Compute * rate)
		if rate = 0; j > 1 {
			rate = n.rate(j - 1)
		}
		add(j-1, w, rate)
	}
	return n.load(flow/all, saturated/all)
}

// wants reports whether j machines at the server could together use more than its capacity.
func (n Network) wants(j int) bool { return float64(j)*n.Server > n.Transfer && j > 0 }

// load returns the load that follows from the throughput by Little's law.
func (n Network) load(throughput, saturated float64) Load {
	return Load{Throughput: throughput, Transfer: max(0, float64(n.Machines)/throughput-n.Compute),
		Use: min(1, throughput*n.Server), Saturated: saturated}
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
