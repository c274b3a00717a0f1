// Package streaming makes a job of a Hadoop Streaming command line, so that a
// script written for "hadoop jar hadoop-streaming.jar …" runs unchanged.
//
// The flags and keys are two tables, Flags and Keys: name, meaning, and whether
// berth does what they say, takes them without effect, or refuses them. What would
// give other output than Hadoop's if it were passed over is refused; what tunes a
// Hadoop cluster is passed over.
//
// Where berth differs from Hadoop: an identity mapper hands on the line alone,
// without the byte offset as key; the number of reduces is berth's to choose unless
// the job says it; scripts that a command names and that exist are shipped without
// -file; an unknown key is told with the nearest known one.
//
// The package reads files (configuration, scripts to ship) and changes none.
package streaming
