package plant

// NotHere says that a program's functions cannot be counted, and why: the machine, the system or the program is
// not one for which this is done. The program runs as it would without.
type NotHere struct{ Why string }

func (e *NotHere) Error() string { return "functions are not counted here: " + e.Why }
