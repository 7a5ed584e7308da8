package arrowmap

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/internal/format/schema"
)

// Unite is the node of two shards of which one refers to the data of both: its values are stored, and read, as those of a and of b are. It is nullable if one of
// them is, and has the metadata of a. ok is false if the types differ. Children do not count.
func Unite(a, b schema.Field) (f schema.Field, ok bool) {
	if a.Type != b.Type || a.Signed != b.Signed || a.FixedSize != b.FixedSize || a.Internal != b.Internal {
		return f, false
	}
	ka, ra, err := split(a.Extended)
	if err != nil {
		return a, sameExtended(a.Extended, b.Extended)
	}
	kb, rb, err := split(b.Extended)
	if err != nil || !sameExtended(&ra, &rb) || ka.typeText() != kb.typeText() || ka.hasName != kb.hasName || ka.name != kb.name {
		return f, false
	}
	if ka.required && !kb.required {
		return Nullable(a), true
	}
	return a, true
}

// Nullable is a node whose field may have nulls.
func Nullable(f schema.Field) schema.Field {
	k, rest, err := split(f.Extended)
	if err != nil || !k.required {
		return f
	}
	k.required = false
	f.Extended = joined(k, rest)
	return f
}

// joined is the inverse of split; nil for nothing.
func joined(k annotation, rest schema.Extended) *schema.Extended {
	if text := k.text(k.typeText()); text != "" {
		rest.Properties = append(rest.Properties, schema.Property{Name: AnnotationProperty, Kind: schema.PropertyString, Data: []byte(text)})
	}
	if rest.Label == "" && len(rest.Properties) == 0 {
		return nil
	}
	rest.Label = cmp.Or(rest.Label, AnnotationLabel)
	return &rest
}

// split is the Arrow annotation of an extended type, and the rest of it. The label of nodes that have no other is not in the rest.
func split(e *schema.Extended) (k annotation, rest schema.Extended, err error) {
	if e == nil {
		return k, rest, nil
	}
	if e.Label != AnnotationLabel {
		rest.Label = e.Label
	}
	found := false
	for _, p := range e.Properties {
		if found || p.Name != AnnotationProperty || p.Kind != schema.PropertyString {
			rest.Properties = append(rest.Properties, p)
			continue
		}
		found = true
		if k, err = parseAnnotation(string(p.Data)); err != nil {
			return k, rest, err
		}
	}
	return k, rest, nil
}

func sameExtended(a, b *schema.Extended) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Label == b.Label && slices.EqualFunc(a.Properties, b.Properties, func(p, q schema.Property) bool {
		return p.Name == q.Name && p.Kind == q.Kind && string(p.Data) == string(q.Data)
	})
}
