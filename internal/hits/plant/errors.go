package plant

import "errors"

// NotHere says that a program's functions cannot be counted, and why: the machine, the system or the
// program does not allow it. The program runs unchanged.
type NotHere struct{ Why string }

func (e *NotHere) Error() string { return "functions are not counted here: " + e.Why }

// reason returns why a program is not planted, as a text for people.
func reason(err error) string {
	var e *NotHere
	if errors.As(err, &e) {
		return e.Why
	}
	return err.Error()
}
