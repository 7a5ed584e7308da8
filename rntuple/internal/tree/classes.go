package tree

import (
	"strings"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// classes are the descriptions of classes that a file has, by name and version: which members their objects have, in which order.
type classes map[string]map[int][]element

// element is a member of a class.
type element struct {
	name, of, title string // of is the type of C++
	kind            int    // TVirtualStreamerInfo::EReadWrite
	length          int    // items of a fixed array
	sizes           []int64
	counter         string // the member with the number of items
}

// Kinds of members that are no numbers.
const (
	kindBase, kindCharStar                         = 0, 7
	kindObject, kindAny, kindObjectp, kindObjectP  = 61, 62, 63, 64
	kindTString, kindTObject, kindTNamed           = 65, 66, 67
	kindAnyp, kindAnyP                             = 68, 69
	kindSTL, kindSTLString, kindStreamer, kindLoop = 300, 365, 500, 501
)

// classObject is an object of metadata: a class, and its members by name, those of base classes among them. A member is an int64, a string, a []int64,
// an *classObject or a list, which is a []any.
type classObject struct {
	class   string
	members map[string]any
}

func (o *classObject) int(name string) int64    { n, _ := o.members[name].(int64); return n }
func (o *classObject) text(name string) string  { s, _ := o.members[name].(string); return s }
func (o *classObject) ints(name string) []int64 { n, _ := o.members[name].([]int64); return n }
func (o *classObject) object(name string) *classObject {
	p, _ := o.members[name].(*classObject)
	return p
}
func (o *classObject) list(name string) (l []any) { l, _ = o.members[name].([]any); return l }
func (o *classObject) objects(name string) []*classObject {
	var all []*classObject
	for _, one := range o.list(name) {
		if p, ok := one.(*classObject); ok {
			all = append(all, p)
		}
	}
	return all
}

// maxDepth bounds objects in objects.
const maxDepth = 128

// reader reads the objects of a record.
type reader struct {
	cursor
	key     int            // bytes of the key in front of the record: references count from its start
	seen    map[uint32]any // names of classes, and objects, by their place
	classes classes
	depth   int
}

func newReader(b []byte, key int64, all classes) *reader {
	return &reader{cursor: cursor{b: b, end: len(b)}, key: int(key), seen: map[uint32]any{}, classes: all}
}

// parseClasses reads the description of the classes of a file: a TList of TStreamerInfo.
func parseClasses(b []byte, key int64) (classes, error) {
	all := classes{}
	r := newReader(b, key, all)
	if _, ok := r.value("TList").([]any); !ok {
		r.fail(fault.Corruptf("no list of classes"))
	}
	return all, r.err
}

// pointer reads an object that a pointer leads to: nil, one that was read before, or one that follows.
//
//	u32 bytes | 0x40000000   unless the object was read before
//	u32 0xffffffff           and the name of a class, ending with 0; or the place of that name | 0x80000000; or the place of an object, 0 for nil
//	…                        the object
func (r *reader) pointer() any {
	at, end := r.pos, -1
	tag := r.u32()
	classAt := at
	if tag&hasCount != 0 && tag != newClass {
		if end = r.pos + int(tag&^hasCount); end > r.end {
			r.fail(fault.Corruptf("an object of %d bytes at byte %d, of %d", tag&^hasCount, at, r.end))
			return nil
		}
		classAt = r.pos
		tag = r.u32()
	}
	const shift = 2 // of places
	if tag&isClass == 0 {
		return r.seen[tag]
	}
	var class string
	if tag == newClass {
		from := r.pos
		for r.u8() != 0 {
		}
		if r.err != nil {
			return nil
		}
		class = string(r.b[from : r.pos-1])
		r.seen[uint32(classAt+r.key+shift)] = class
	} else if class, _ = r.seen[tag&^isClass].(string); class == "" {
		r.fail(fault.Corruptf("the object at byte %d has no class", at))
		return nil
	}
	o := &classObject{class, map[string]any{}}
	r.seen[uint32(at+r.key+shift)] = o
	v := r.into(class, o)
	if end >= 0 && r.err == nil {
		o.members["end"] = int64(end)
		r.pos = end
	}
	return v
}

// value reads an object that is part of another one.
func (r *reader) value(class string) any { return r.into(class, &classObject{class, map[string]any{}}) }

// into reads an object, and gives it, or the list that it is.
func (r *reader) into(class string, o *classObject) any {
	if r.depth++; r.depth > maxDepth {
		r.fail(fault.Limitf("more than %d objects in each other", maxDepth))
	}
	defer func() { r.depth-- }()
	if size := map[string]int{"TArrayC": 1, "TArrayS": 2, "TArrayI": 4, "TArrayF": 4, "TArrayL": 8, "TArrayL64": 8, "TArrayD": 8}[class]; size > 0 {
		r.take(r.count(size) * size)
		return o
	}
	switch class {
	case "TObject":
		r.tobject()
		return o
	case "TBasket": // a record in the record, which pointer knows the end of
		o.members["start"] = int64(r.pos)
		return o
	}
	start := r.pos
	version, end := r.header()
	var v any = o
	switch {
	case class == "TObjArray" || class == "TList" || class == "THashList":
		v = r.items(class)
	case class == "TStreamerInfo":
		r.class(o)
	case strings.HasPrefix(class, "TStreamer"):
		r.element(class, version, o)
	case class == "TNamed":
		r.named(o)
	default:
		members, known := r.classes[class][version]
		if leaf := strings.HasPrefix(class, "TLeaf"); !known && leaf && end >= 0 {
			members, known = baseOfLeaves, true
			if class == "TLeaf" {
				members = leafMembers
			}
		}
		if needed := strings.HasPrefix(class, "TBranch") || class == "TTree"; !known && (needed || end < 0) {
			r.fail(fault.Unsupportedf("the file does not describe version %d of class %s", version, class))
		}
		for _, e := range members {
			r.member(&e, o)
		}
	}
	if end >= 0 && r.err == nil {
		if r.pos > end {
			r.fail(fault.Corruptf("%s at byte %d is longer than it says", class, start))
		}
		r.pos = end
	}
	return v
}

// baseOfLeaves begins all classes of leaves, and leafMembers are those of TLeaf. Files of groot do not describe them.
var baseOfLeaves = []element{{name: "TLeaf", kind: kindBase}}

var leafMembers = []element{
	{name: "TNamed", kind: kindTNamed}, {name: "fLen", kind: typeInt}, {name: "fLenType", kind: typeInt}, {name: "fOffset", kind: typeInt},
	{name: "fIsRange", kind: typeBool}, {name: "fIsUnsigned", kind: typeBool}, {name: "fLeafCount", kind: kindObjectP},
}

func (r *reader) tobject() {
	r.take(6) // version and id
	if r.u32()&isReferenced != 0 {
		r.take(2) // it is referred to by other files
	}
}

func (r *reader) named(o *classObject) {
	r.tobject()
	o.members["fName"], o.members["fTitle"] = string(r.text()), string(r.text())
}

// items reads the objects of an array or a list.
func (r *reader) items(class string) []any {
	r.tobject()
	r.text()
	n := r.count(4)
	if class == "TObjArray" {
		r.take(4) // lower bound
	}
	all := make([]any, 0, n)
	for range n {
		if r.err != nil {
			break
		}
		all = append(all, r.pointer())
		if class != "TObjArray" {
			r.text() // option
		}
	}
	return all
}

// class reads a TStreamerInfo, and adds it to the classes.
func (r *reader) class(o *classObject) {
	r.into("TNamed", o)
	r.take(4) // checksum
	version := r.i32()
	list, _ := r.pointer().([]any)
	var members []element
	for _, m := range list {
		if m, ok := m.(*classObject); ok {
			members = append(members, element{m.text("fName"), m.text("type"), m.text("fTitle"), int(m.int("kind")), int(m.int("length")), m.ints("sizes"), m.text("counter")})
		}
	}
	if r.err == nil {
		if r.classes[o.text("fName")] == nil {
			r.classes[o.text("fName")] = map[int][]element{}
		}
		r.classes[o.text("fName")][version] = members
	}
}

// element reads a TStreamerElement, or an object of a class that is based on it.
func (r *reader) element(class string, version int, o *classObject) {
	if class != "TStreamerElement" {
		base := "TStreamerElement"
		if class == "TStreamerSTLstring" {
			base = "TStreamerSTL"
		}
		r.into(base, o)
		if class == "TStreamerBasicPointer" || class == "TStreamerLoop" {
			r.take(4) // version of the class that has the counter
			o.members["counter"] = string(r.text())
		}
		return
	}
	r.into("TNamed", o)
	kind := r.i32()
	r.take(4) // size in memory
	o.members["length"] = int64(r.i32())
	n, most := r.i32(), 5
	if version == 1 {
		most = r.count(4)
	}
	var sizes []int64
	for i := range most {
		if size := int64(r.i32()); i < n {
			sizes = append(sizes, size)
		}
	}
	o.members["sizes"] = sizes
	of := string(r.text())
	if kind == typeUChar && (of == "Bool_t" || of == "bool") {
		kind = typeBool // as files of ROOT 3 have it
	}
	o.members["kind"], o.members["type"] = int64(kind), of
}

// member reads a member of an object.
func (r *reader) member(e *element, o *classObject) {
	switch size := bytesOf(e.kind % typeArray); {
	case r.err != nil:
	case e.kind == kindBase && e.name != "TObject":
		r.into(e.name, o)
	case e.kind == kindTNamed:
		r.into("TNamed", o)
	case e.kind == kindTObject || e.kind == kindBase:
		r.tobject()
	case e.kind == kindTString:
		o.members[e.name] = string(r.text())
	case e.kind == kindCharStar:
		r.take(r.i32())
	case size > 0 && e.kind < typeArray:
		o.members[e.name] = r.basic(e.kind)
	case size > 0 && e.kind < typeCounted+typeArray:
		n := e.length
		if e.kind > typeCounted {
			r.u8()
			n = int(o.int(e.counter))
		}
		if n < 0 || n > (r.end-r.pos)/size {
			r.fail(fault.Corruptf("%d items of %s at byte %d, of %d", n, e.name, r.pos, r.end))
			return
		}
		all := make([]int64, n)
		for i := range all {
			all[i] = r.basic(e.kind % typeArray)
		}
		o.members[e.name] = all
	case e.kind == kindObject || e.kind == kindAny || e.kind == kindObjectp || e.kind == kindAnyp:
		o.members[e.name] = r.value(strings.TrimSuffix(e.of, "*"))
	case e.kind == kindObjectP || e.kind == kindAnyP:
		o.members[e.name] = r.pointer()
	default:
		if _, end := r.header(); end >= 0 && r.err == nil {
			r.pos = end
			return
		}
		r.fail(fault.Unsupportedf("member %s of type %s (%d)", e.name, e.of, e.kind))
	}
}
