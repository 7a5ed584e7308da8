package tempo

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// scope says which things have an attribute.
type scope string

const (
	ofResource scope = "resource"
	ofSpan     scope = "span"
	ofEvent    scope = "event"
)

// dedicatedNames has the names of the attributes in dedicated columns.
type dedicatedNames struct {
	names  map[scope]map[string]string // column, as String01 → attribute
	known  bool                        // the file meta.json was given
	told   map[string]bool             // columns without a name that were noticed
	notice func(string)
}

// parseMeta reads the version of the schema and the list of dedicated columns in meta.json:
//
//	"format":"vParquet4"
//	"dedicatedColumns":[{"s":"resource","n":"ip"},{"n":"region"},{"n":"retries","t":"int"}]
//
// The k-th entry of a scope and type is about the k-th column of it, here rs.Resource.DedicatedAttributes.String01,
// rs.ss.Spans.DedicatedAttributes.String01 and Int01. The default scope is span, the default type string.
func parseMeta(text []byte) (*dedicatedNames, error) {
	d := &dedicatedNames{names: map[scope]map[string]string{}, told: map[string]bool{}, notice: func(string) {}}
	if text == nil {
		return d, nil
	}
	d.known = true
	var meta struct {
		Format  string `json:"format"`
		Columns []struct {
			Scope scope  `json:"s"`
			Name  string `json:"n"`
			Type  string `json:"t"`
		} `json:"dedicatedColumns"`
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return nil, fault.Corruptf("%w", err)
	}
	if f := meta.Format; f != "" && !strings.HasPrefix(f, "vParquet4") && !strings.HasPrefix(f, "vParquet5") {
		return nil, fault.Unsupportedf("the format of the block is %q; only vParquet4 and vParquet5 can be read", f)
	}
	for _, c := range meta.Columns {
		if c.Scope == "" {
			c.Scope = ofSpan
		}
		prefix := "String"
		if c.Type == "int" {
			prefix = "Int"
		} else if c.Type != "" && c.Type != "string" {
			continue // Tempo stores attributes of other types among the others
		}
		of := d.names[c.Scope]
		if of == nil {
			of = map[string]string{}
			d.names[c.Scope] = of
		}
		for k := 1; ; k++ {
			column := fmt.Sprintf("%s%02d", prefix, k)
			if _, taken := of[column]; !taken {
				of[column] = c.Name
				break
			}
		}
	}
	return d, nil
}

// name returns the attribute of a dedicated column that has a value.
func (d *dedicatedNames) name(s scope, column string) string {
	if name, ok := d.names[s][column]; ok {
		return name
	}
	name := "DedicatedAttributes." + column
	if at := string(s) + " " + column; !d.told[at] {
		d.told[at] = true
		why := "there is no meta.json"
		if d.known {
			why = "meta.json does not name it"
		}
		d.notice(fmt.Sprintf("the dedicated column %s of %ss has values, but %s; its attribute is called %s", column, s, why, name))
	}
	return name
}
