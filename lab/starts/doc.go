// Package starts compares predictions of when jobs of a log will start, and choices of sizes by them: by the limits in the
// queue and by its history (internal/core/starts). It is berth-lab starts.
package starts
