// Package loads draws the jobs and the slow nodes of experiments: jobs whose phases contend, jobs that were measured, jobs
// whose tasks count while they run, and the times in which nodes are slow. What a simulation knows of them is in package
// workload. The package is pure: all randomness comes from a seed or a source that is passed in.
package loads
