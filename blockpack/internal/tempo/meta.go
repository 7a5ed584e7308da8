package tempo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// scope says which things have an attribute.
type scope string

const (
	ofResource scope = "resource"
	ofSpan     scope = "span"
	ofEvent    scope = "event"
)

// Names are the names of the attributes in dedicated columns. They serve one reader at a time.
type Names struct {
	names  map[scope]map[string]string // column, as String01 → attribute
	known  bool                        // the file meta.json was given
	told   map[string]bool             // columns without a name that were noticed
	notice func(string)
}

// ReadNames reads the file meta.json beside the data of a block, if the input has a location. Without it the values of dedicated columns
// become attributes with the names of these columns, as DedicatedAttributes.String01, which notice is told once.
func ReadNames(ctx context.Context, in provider.Input, notice func(string)) (*Names, error) {
	text, err := readMeta(ctx, in)
	if err != nil {
		return nil, err
	}
	names, err := parseMeta(text, notice)
	return names, fault.Of(err, in.Name)
}

// maxMeta is the largest file meta.json in bytes.
const maxMeta = 16 << 20

// readMeta reads the file meta.json beside an input. It is nil if there is none, or the input has no location.
func readMeta(ctx context.Context, in provider.Input) (_ []byte, err error) {
	if in.Location == "" {
		return nil, nil
	}
	location := in.Location[:strings.LastIndexAny(in.Location, `/\\`)+1] + MetaFile
	store, err := storage.Of(in.Store, location)
	if err != nil {
		return nil, err
	}
	r, err := store.Open(ctx, location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", MetaFile, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	meta, size, err := r.ReadSuffix(ctx, maxMeta)
	if errors.Is(err, fs.ErrNotExist) { // of a store that did not look when it was opened
		return nil, nil
	}
	if err == nil && size > maxMeta {
		err = fmt.Errorf("%d bytes are more than %d", size, maxMeta)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", location, err)
	}
	return meta, nil
}

// parseMeta reads the version of the schema and the list of dedicated columns in meta.json:
//
//	"format":"vParquet4"
//	"dedicatedColumns":[{"s":"resource","n":"ip"},{"n":"region"},{"n":"retries","t":"int"}]
//
// The k-th entry of a scope and type is about the k-th column of it, here rs.Resource.DedicatedAttributes.String01,
// rs.ss.Spans.DedicatedAttributes.String01 and Int01. The default scope is span, the default type string.
func parseMeta(text []byte, notice func(string)) (*Names, error) {
	d := &Names{names: map[scope]map[string]string{}, told: map[string]bool{}, notice: notice}
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
		return nil, fault.In(fault.Corruptf("%w", err), MetaFile, -1)
	}
	if f := meta.Format; f != "" && !strings.HasPrefix(f, "vParquet4") && !strings.HasPrefix(f, "vParquet5") {
		return nil, fault.In(fault.Unsupportedf("the format of the block is %q; only vParquet4 and vParquet5 can be read", f), MetaFile, -1)
	}
	for _, c := range meta.Columns {
		c.Scope = cmp.Or(c.Scope, ofSpan)
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
func (d *Names) name(s scope, column string) string {
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
