// Package physics has what happens to simulated tasks beyond fixed durations: phases that contend for the cores, disk and
// network of their node (Phases), and progress that workers report from nodes that are slow for a while (Paces). Both are
// given to package sim as its Physics, with jobs of package loads:
//
//	p := &physics.Phases{Hardware: nodes, Jobs: jobs}
//	result, err := sim.Run(ctx, p.Config(sim.Config{Policy: batch.FCFS, Adaptor: physics.Own(len(nodes))}))
//	p.Use(result)
package physics
