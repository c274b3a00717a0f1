package dfs

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// RootVar is the environment variable that says which folder hdfs: URIs are paths below.
const RootVar = "BERTH_HDFS"

// ErrElsewhere says that a URI names a file system that is not of this machine.
var ErrElsewhere = errors.New("is not on a file system of this machine")

// Path returns the path of a file of this machine that a path or URI names. root is the folder for
// hdfs: URIs; empty: there is none. No URI leads out of it but by symbolic links.
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
	return uri, nil // a colon in a file's name
}

// withoutHost returns the path of a URI behind its scheme.
func withoutHost(rest string) string {
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		_, path, _ := strings.Cut(host, "/")
		return "/" + path
	}
	return rest
}

// unescaped takes %20 for a blank where that is sound; Hadoop writes URIs both ways.
func unescaped(uri, path string) (string, error) {
	plain, err := url.PathUnescape(path)
	if err != nil {
		return "", fmt.Errorf("%q is not a valid URI: %w", uri, err)
	}
	return "/" + strings.TrimLeft(plain, "/"), nil
}
