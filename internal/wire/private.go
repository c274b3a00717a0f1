package wire

import (
	"errors"

	"berth/internal/core/job"
	"berth/internal/sys/private"
)

// maxKeyFile is the largest size of a file of keys, bytes; they have about two thousand.
const maxKeyFile = 1 << 20

// checkPrivateDir returns an error for a folder of keys that others can access.
func checkPrivateDir(dir string) error {
	return keysRefused(dir, "cannot read the folder for keys", "700", private.CheckFolder(dir))
}

// readPrivate reads a file of keys. It returns an error if others can access the file.
func readPrivate(path string) ([]byte, error) {
	data, err := private.ReadSecret(path, maxKeyFile)
	return data, keysRefused(path, "cannot read keys", "600", err)
}

// keysRefused converts the reason why keys are not used to an error; nil stays nil.
func keysRefused(path, what, mode string, err error) error {
	var u *private.Untrusted
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &u):
		return keyError(path, what, err)
	}
	e := job.ConfigError(path, "it "+u.What, "remove it, because its keys cannot be trusted")
	if u.Mode {
		e.Do = "others may know the keys: if nobody else could have read it, `chmod " + mode + "` it, else remove it"
	}
	return e
}
