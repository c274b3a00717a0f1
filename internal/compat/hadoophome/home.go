// Package hadoophome creates a folder that programs accept as an installation of Hadoop, and implements its command
// hadoop.
package hadoophome

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"berth/internal/compat/dfs"
	"berth/internal/core/job"
)

// Version is the version of Hadoop whose commands, messages and Streaming berth follows.
const Version = "3.4.2"

// Write writes the files that programs look for in HADOOP_HOME to the folder dir, which may exist already. root is the
// folder for hdfs: URIs, and berth the program that is run instead of Hadoop; all paths are absolute.
func Write(dir, root, berth string) error {
	bin, lib := filepath.Join(dir, "bin"), filepath.Join(dir, "share", "hadoop", "tools", "lib")
	for _, d := range []string{root, bin, lib, filepath.Join(dir, "logs")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	script := fmt.Sprintf("#!/bin/sh\n# Written by berth hadoop-home: berth in the place of Hadoop.\nexport HADOOP_HOME=%s %s=%s\nexec %s hadoop \"$@\"\n",
		job.Quote(dir), dfs.RootVar, job.Quote(root), job.Quote(berth))
	for _, name := range []string{"hadoop", "hdfs", "mapred"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	jar, err := emptyJar()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(lib, "hadoop-streaming-"+Version+".jar"), jar, 0o644)
}

// emptyJar returns an archive that contains only its manifest. Programs look for its name.
func emptyJar() ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create("META-INF/MANIFEST.MF")
	if err != nil {
		return nil, err
	}
	if _, err := f.Write([]byte("Manifest-Version: 1.0\r\nImplementation-Title: a stand-in; berth runs Hadoop Streaming itself\r\n\r\n")); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
