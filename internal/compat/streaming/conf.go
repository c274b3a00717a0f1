package streaming

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"berth/internal/core/job"
	"berth/internal/core/pattern"
	"berth/internal/sys/procattr"
)

// configuration contains the keys of a job by their present names.
type configuration struct {
	values map[string]Setting
	order  []string // keys in the order in which they were first set
	final  map[string]bool
	env    []string // for ${env.NAME}
}

func newConfiguration(env []string) *configuration {
	return &configuration{values: map[string]Setting{}, final: map[string]bool{}, env: env}
}

// canonical returns the present name of a key.
func canonical(key string) string {
	if k := findKey(key); k != nil {
		return k.Name
	}
	return key
}

// set sets a key, which may have an old name, and overrides its value.
func (c *configuration) set(key, value, where string) {
	name := canonical(key)
	if _, known := c.values[name]; !known {
		c.order = append(c.order, name)
	}
	c.values[name] = Setting{Name: key, Value: value, Where: where}
}

// assign sets a key from KEY=VALUE.
func (c *configuration) assign(text, where string) error {
	key, value, ok := strings.Cut(text, "=")
	key = strings.TrimSpace(key)
	if !ok || key == "" {
		return job.ArgumentError(where, fmt.Sprintf("%q is not KEY=VALUE", text), "write "+where+" key=value")
	}
	if strings.ContainsRune(text, 0) {
		return job.ArgumentError(where, "a key or value cannot have a NUL", "leave it out")
	}
	c.set(key, value, where+" "+key)
	return nil
}

// property is a key in a configuration file, written as elements, or as attributes, which Hadoop 3 also accepts.
type property struct {
	Name      string  `xml:"name"`
	Value     *string `xml:"value"`
	Final     string  `xml:"final"`
	NameAttr  string  `xml:"name,attr"`
	ValueAttr *string `xml:"value,attr"`
	FinalAttr string  `xml:"final,attr"`
}

// read reads the keys of a configuration file (Hadoop's XML). A key that an earlier file declared final keeps
// its value. name is the name of the file in errors.
func (c *configuration) read(name string, data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	for depth, empty := 0, true; ; {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && empty:
			return xmlError(name, d, "there is no <configuration> in it", nil)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return xmlError(name, d, "it is not valid XML", err)
		}
		switch t := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			empty = false
			switch element := t.Name.Local; {
			case depth == 1 && element == "property":
				if err := c.property(name, d, t); err != nil {
					return err
				}
				continue // it was read to its end
			case depth == 0 && element != "configuration":
				return xmlError(name, d, fmt.Sprintf("the document is a <%s>, not a <configuration>", element), nil)
			case element == "include":
				return xmlError(name, d, "it includes another file", nil)
			}
			depth++
		}
	}
}

// property sets the key of one <property> element.
func (c *configuration) property(name string, d *xml.Decoder, start xml.StartElement) error {
	line, _ := d.InputPos()
	var p property
	if err := d.DecodeElement(&p, &start); err != nil {
		return xmlError(name, d, "it is not valid XML", err)
	}
	key := strings.TrimSpace(p.Name + p.NameAttr)
	value := cmp.Or(p.Value, p.ValueAttr)
	if key == "" {
		return xmlError(name, d, "a <property> has no <name>", nil)
	}
	if value == nil || c.final[canonical(key)] {
		return nil // a property without a value sets nothing, as in Hadoop
	}
	c.set(key, *value, fmt.Sprintf("%s:%d %s", name, line, key))
	if strings.TrimSpace(p.Final+p.FinalAttr) == "true" {
		c.final[canonical(key)] = true
	}
	return nil
}

func xmlError(name string, d *xml.Decoder, what string, err error) error {
	line, _ := d.InputPos()
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		line, err = syntax.Line, errors.New(syntax.Msg)
	}
	return job.ConfigError(fmt.Sprintf("%s:%d", name, line), what, "a configuration is <configuration><property><name>…</name><value>…</value></property>…</configuration>").Because(err)
}

// maxExpansions is the largest number of expansions of ${…} in a value, as Hadoop's Configuration.MAX_SUBST.
const maxExpansions = 20

// get returns the value of a key with ${key} and ${env.NAME} replaced, as Hadoop's Configuration.substituteVars
// does. Unknown names are not replaced.
func (c *configuration) get(name string) (Setting, bool) {
	s, ok := c.values[name]
	for range maxExpansions {
		at := expansion().FindStringSubmatchIndex(s.Value)
		if at == nil {
			break
		}
		value, known := c.variable(s.Value[at[2]:at[3]])
		if !known {
			break
		}
		s.Value = s.Value[:at[0]] + value + s.Value[at[1]:]
	}
	return s, ok
}

// expansion matches a ${…} that contains no other one.
var expansion = pattern.Lazy(`\$\{([^} $]*)\}`)

// maxValue is the largest size of an expanded value in bytes.
const maxValue = 1 << 16

func (c *configuration) variable(name string) (string, bool) {
	if v, ok := strings.CutPrefix(name, "env."); ok {
		v, fallback, _ := strings.Cut(v, "-")
		value, known := job.LookupEnv(c.env, v)
		if !known && fallback != "" {
			return strings.TrimPrefix(fallback, "-"), true
		}
		return value, known
	}
	if name == "user.name" {
		user := procattr.UserName(c.env)
		return user, user != ""
	}
	s, known := c.values[canonical(name)]
	return s.Value, known && len(s.Value) <= maxValue
}

// all returns the keys for the environment of tasks, in all their spellings.
func (c *configuration) all() map[string]string {
	keys := map[string]string{}
	for _, name := range c.order {
		s, _ := c.get(name)
		keys[name] = s.Value
		if k := findKey(name); k != nil {
			for _, old := range k.Old {
				keys[old] = s.Value
			}
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return keys
}
