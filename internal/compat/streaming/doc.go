// Package streaming makes a job from a command line of Hadoop Streaming, so that a script written for "hadoop jar
// hadoop-streaming.jar …" runs unchanged.
//
//	result, err := streaming.Parse(args, dir, os.Environ())
//
// The flags and keys are two tables, Flags and Keys. They have the name, the meaning, and whether berth implements
// a flag or key, ignores it, or refuses it. A flag or key is refused if the output would differ from Hadoop's
// without it. Keys that tune a Hadoop cluster are ignored.
//
// berth differs from Hadoop in these points: an identity mapper passes on the line alone, without the byte offset
// as key; berth chooses the number of reduces unless the job sets it; scripts that a command names are shipped
// without -file; for an unknown key the nearest known one is suggested.
//
// The package reads files (configuration, scripts to ship) and changes none.
package streaming
