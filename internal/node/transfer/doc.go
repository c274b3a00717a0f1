// Package transfer moves files of jobs between the machine on which the user ran the command and hosts that do not see its file systems.
//
// Server runs on the user's machine, in the process that holds the worker of one host (driver/ssh). It decides by the run's folder what a task may
// read and write: the host names a job, a task and an attempt, and never a path that the server would take on trust. Client and Cache run on
// the host, in the worker. They talk HTTP/1.1 over streams of the connection that carries the worker, so that ranges, lengths and
// keeping connections open are net/http's business.
//
//	GET    /jobs/J/tasks/T/needs                              what the task needs, of a MapReduce job what it ships: names, modes, SHA-256 of contents (Item)
//	GET    /jobs/J/tasks/T/ranges/R?at=…&n=…                  a part of the file of a range of a map's split, in blocks with checksums
//	GET    /jobs/J/contents/SHA256                            such a content, or a range of it
//	PUT    /jobs/J/tasks/T/attempts/N/outputs?name=…          what the attempt leaves, into a hidden file beside its place, or in _temporary
//	POST   /jobs/J/tasks/T/attempts/N/commit                  the renames that put it into place
//	DELETE /jobs/J/tasks/T/attempts/N                         what was not put into place
//	DELETE /jobs/J/tasks/T/attempts/N/others?last=L           what other attempts, up to number L, did not put into place
//	POST   /sync                                              what was put into place is on the disk
//
// A file is on either side whole or not at all. The package may not decide which attempt commits (the engine does) nor when a transfer takes place.
package transfer
