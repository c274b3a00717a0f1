package job

// Curve is the progress over its time of an attempt that was done, as a profile keeps it and as it comes back with the next job
// of the application.
type Curve struct {
	Kind   TaskKind       `msgpack:"k" json:"kind"`
	Source ProgressSource `msgpack:"s" json:"source"`
	// Marks is seconds since the attempt began, count in the source's unit and seconds of processor time of each mark in turn.
	Marks []float64 `msgpack:"m" json:"marks"`
}
