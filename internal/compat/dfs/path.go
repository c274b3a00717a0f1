package dfs

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// RootVar is the environment variable with the folder that is the root of hdfs: URIs.
const RootVar = "BERTH_HDFS"

// ErrElsewhere means that a URI names a file system that is not on this machine.
var ErrElsewhere = errors.New("is not on a file system of this machine")

// Path returns the path on this machine that a path or URI names. root is the folder for hdfs: URIs, or empty if there
// is none. A URI leads out of it only through symbolic links.
func Path(uri, root string) (string, error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	switch {
	case !ok || strings.ContainsAny(scheme, "/*?[{ ") || scheme == "":
		return uri, nil
	case scheme == "file":
		return unescaped(uri, withoutHost(rest))
	case scheme == "hdfs" && root != "":
		path, err := unescaped(uri, withoutHost(rest))
		return filepath.Join(root, filepath.Join("/", path)), err
	case strings.HasPrefix(rest, "//") || scheme == "hdfs":
		return "", fmt.Errorf("%q %w", uri, ErrElsewhere)
	}
	return uri, nil // the colon is part of a file's name
}

// withoutHost returns the path of a URI without scheme and host.
func withoutHost(rest string) string {
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		_, path, _ := strings.Cut(host, "/")
		return "/" + path
	}
	return rest
}

// unescaped replaces escapes such as %20 in a path, because Hadoop writes URIs both with and without them. It returns
// an error if an escape is invalid.
func unescaped(uri, path string) (string, error) {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("%q is not a valid URI: %w", uri, err)
	}
	return "/" + strings.TrimLeft(plain, "/"), nil
}
