package wire

import (
	"errors"

	"berth/internal/job"
	"berth/internal/private"
)

// maxKeyFile bounds a file of keys, in bytes; they have about two thousand.
const maxKeyFile = 1 << 20

// checkPrivateDir refuses a folder for keys that is not this user's alone.
func checkPrivateDir(dir string) error {
	return keysRefused(dir, "cannot read the folder for keys", "700", private.CheckFolder(dir))
}

// readPrivate reads a file of keys that is this user's alone.
func readPrivate(path string) ([]byte, error) {
	data, err := private.ReadSecret(path, maxKeyFile)
	return data, keysRefused(path, "cannot read keys", "600", err)
}

// keysRefused says why keys are not used; nil for none.
func keysRefused(path, what, mode string, err error) error {
	var u *private.Untrusted
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &u):
		return keyError(path, what, err)
	}
	e := &job.Error{Class: job.User, Code: job.CodeConfig, Where: path, What: "it " + u.What, Do: "remove it; keys in it cannot be trusted"}
	if u.Mode {
		e.Do = "others may know the keys: if nobody else could have read it, `chmod " + mode + "` it, else remove it"
	}
	return e
}
