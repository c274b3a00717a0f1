package main

import (
	"fmt"
	"os"
	"strings"
)

// replaceTable replaces the text between the marks of the given name in a document.
func replaceTable(path, name, text string) error {
	doc, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- %s:begin -->", name), fmt.Sprintf("<!-- %s:end -->", name)
	before, rest, ok := strings.Cut(string(doc), begin)
	_, after, is := strings.Cut(rest, end)
	if !ok || !is {
		return fmt.Errorf("%s: no %s and %s after it", path, begin, end)
	}
	return os.WriteFile(path, []byte(before+begin+"\n"+text+end+after), 0o644)
}
