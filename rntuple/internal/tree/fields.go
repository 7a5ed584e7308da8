package tree

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// kind is how the values of a field are stored.
type kind uint8

const (
	number  kind = iota // size bytes, big-endian
	boolean             // a byte
	wider               // a float of 32 bits, read as one of 64: Double32_t
	shorter             // a float of few bits: an exponent of a byte, a sign and a mantissa of two
	ranged              // a float of a range, as a number of 32 bits
	text                // cursor.text
	tobject             // the base class TObject, which is left out
	fixed               // n items
	rest                // items up to the end of the entry
	counted             // a number of items in four bytes, and the items
	parts               // one value of each child after the other
	split               // nothing: children have values of their own, in other branches
)

// field is a column of a tree, or a part of one.
type field struct {
	arrow.Field
	id        uint32 // in Table.fields
	kind      kind
	size      int     // bytes of a number
	n         int     // items of a fixed list
	flag      bool    // a byte is in front of a value
	header    bool    // the version of an object is in front of a value
	perhaps   bool    // it is, if it tells where the entry ends
	bits      int     // of the mantissa of a short float
	low, step float64 // of a float of a range
	counter   int     // of a list in an object: the child with the number of items; -1 for none
	hidden    bool    // a base class: its members are those of the object
	kids      []*field
	branch    *branch // with the values; nil for a part of a value, and for objects
}

// branch is where values lie.
type branch struct {
	name    string
	entries int64
	baskets []basketPlace
	record  *reader // of the tree, for baskets in it
}

type basketPlace struct {
	offset, size int64        // of the record in the file; size 0 for one in the tree
	first, last  int64        // its entries: last is behind them
	object       *classObject // in the tree
}

// Skipped is a branch that is left out.
type Skipped struct{ Name, Reason string }

// builder makes the fields of a tree.
type builder struct {
	tree    *reader
	o       Options
	entries int64
	visited map[*classObject]bool
	skipped []Skipped
}

var dimensions = regexp.MustCompile(`\[([^\]]*)\]`)

// fields are those of some branches. prefix is what names begin with.
func (b *builder) fields(branches []*classObject, prefix string) (all []*field, err error) {
	for _, o := range branches {
		name := o.text("fName")
		if b.visited[o] {
			return nil, fault.Corruptf("branch %q is in the tree twice", name)
		}
		b.visited[o] = true
		short := strings.TrimSuffix(strings.TrimPrefix(name, prefix), ".")
		if i := strings.IndexByte(short, '['); i > 0 {
			short = short[:i]
		}
		list := o.objects("fBranches")
		if len(list) == 0 {
			f, reason := b.leaves(o, short)
			if f == nil {
				b.skipped = append(b.skipped, Skipped{name, reason})
				continue
			}
			if n := o.int("fEntries"); n != b.entries {
				b.skipped = append(b.skipped, Skipped{name, fmt.Sprintf("%d entries, the tree has %d", n, b.entries)})
				continue
			}
			if f.branch, err = b.place(o); err != nil {
				return nil, fault.In(err, fmt.Sprintf("branch %q", name), -1)
			}
			all = append(all, f)
			continue
		}
		kids, err := b.fields(list, strings.TrimSuffix(name, ".")+".")
		if err != nil {
			return nil, err
		}
		if isBase := o.int("fType") == 1; isBase && !collide(all, kids) { // members of base classes stand in their place
			all = append(all, kids...)
		} else if len(kids) > 0 {
			f := &field{kind: split, kids: kids}
			f.Field = arrow.Field{Name: short, Type: structOf(kids)}
			all = append(all, f)
		}
	}
	return all, nil
}

func collide(all, more []*field) bool {
	return slices.ContainsFunc(more, func(f *field) bool {
		return slices.ContainsFunc(all, func(g *field) bool { return f.Name == g.Name })
	})
}

// structOf is the type of a struct of fields, whose names it makes different.
func structOf(kids []*field) arrow.DataType {
	fs, seen := make([]arrow.Field, len(kids)), map[string]bool{}
	for i, k := range kids {
		for seen[k.Name] {
			k.Name += "_"
		}
		seen[k.Name], fs[i] = true, k.Field
	}
	return arrow.StructOf(fs...)
}

// leaves is the field of a branch without others below it, or the reason why it cannot be read.
func (b *builder) leaves(o *classObject, name string) (*field, string) {
	leaves := o.objects("fLeaves")
	if o.class == "TBranchElement" {
		if len(leaves) != 1 {
			return nil, fmt.Sprintf("an object of %d leaves", len(leaves))
		}
		return b.member(o, leaves[0], name)
	}
	if o.class != "TBranch" {
		return nil, "of class " + o.class
	}
	var kids []*field
	for _, l := range leaves {
		leaf := l.text("fName")
		if len(leaves) == 1 {
			leaf = name
		}
		f, reason := b.leaf(l, leaf)
		if f == nil {
			return nil, reason
		}
		if f.kind == rest && len(leaves) > 1 {
			return nil, "several leaves, one of which has a counter"
		}
		kids = append(kids, f)
	}
	switch len(kids) {
	case 0:
		return nil, "no leaf"
	case 1:
		return kids[0], ""
	}
	f := &field{kind: parts, kids: kids}
	f.Field = arrow.Field{Name: name, Type: structOf(kids)}
	return f, ""
}

// basicOf are the basic types of leaves by their last letter.
var basicOf = map[string]int{"B": typeChar, "S": 2, "I": typeInt, "L": typeLong64, "G": typeLong64, "F": typeFloat, "D": typeDouble, "O": typeBool, "D32": typeDouble32, "F16": typeFloat16}

// leaf is the field of a leaf that is no object.
func (b *builder) leaf(l *classObject, name string) (*field, string) {
	class := strings.TrimPrefix(l.class, "TLeaf")
	if class == "C" {
		return b.string(name), ""
	}
	basic, ok := basicOf[class]
	if !ok {
		return nil, "a leaf of class " + l.class
	}
	if l.int("fIsUnsigned") != 0 {
		basic += map[int]int{typeChar: 10, 2: 10, typeInt: 10, typeLong64: 1}[basic]
	}
	f, reason := numberField(basic, name, l.text("fTitle"))
	if reason != "" {
		return nil, reason
	}
	return b.arrays(f, l)
}

var (
	rangeOf = regexp.MustCompile(`\[([^\],]*),([^\],]*)(?:,\s*(\d+)\s*)?\]`)
	pis     = map[string]float64{"pi": math.Pi, "twopi": 2 * math.Pi, "2pi": 2 * math.Pi, "2*pi": 2 * math.Pi, "pi/2": math.Pi / 2, "pi/4": math.Pi / 4}
)

// bound parses a bound of a range of floats.
func bound(s string) (v float64, ok bool) {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	if v, ok = pis[strings.TrimPrefix(s, "-")]; ok {
		if s[0] == '-' {
			v = -v
		}
		return v, true
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// narrow makes a field one of floats of few bits, by the title of a leaf or a member, as x[-pi,pi,16]. basic is Float16_t or Double32_t.
func (f *field) narrow(basic int, title string) (reason string) {
	low, high, bits := 0.0, 0.0, 0
	if m := rangeOf.FindStringSubmatch(title); m != nil {
		var ok, also bool
		low, ok = bound(m[1])
		if high, also = bound(m[2]); !ok || !also {
			return fmt.Sprintf("floats of the range %s", m[0])
		}
		if bits, _ = strconv.Atoi(m[3]); bits < 2 || bits > 32 {
			bits = 32
		}
	}
	switch {
	case low < high:
		f.kind, f.size, f.low, f.step = ranged, 4, low, (high-low)/math.Min(float64(uint64(1)<<bits), math.MaxUint32)
	case bits > 1 && bits < 15:
		f.kind, f.size, f.bits = shorter, 3, bits
	case basic == typeFloat16:
		f.kind, f.size, f.bits = shorter, 3, 12
	}
	return ""
}

// arrays is a list of a field, if the title of its leaf has dimensions, as x[n][3].
func (b *builder) arrays(f *field, l *classObject) (*field, string) {
	var sizes []int
	for _, d := range dimensions.FindAllStringSubmatch(rangeOf.ReplaceAllString(l.text("fTitle"), ""), -1) {
		if n, err := strconv.Atoi(d[1]); err == nil {
			sizes = append(sizes, n)
		}
	}
	total := 1
	for _, n := range sizes {
		if total *= n; n <= 0 || total > maxItems {
			return nil, fmt.Sprintf("an array of the dimensions %d", sizes)
		}
	}
	if length := int(l.int("fLen")); len(sizes) == 0 && length > 1 && length <= maxItems {
		sizes, total = []int{length}, length
	} else if l.object("fLeafCount") == nil && total != max(length, 1) {
		return nil, fmt.Sprintf("an array of %d items of the dimensions %d", length, sizes)
	}
	f = f.fixed(sizes)
	if l.object("fLeafCount") != nil {
		f = listOf(rest, f)
	}
	return f, ""
}

// fixed is a field of fixed arrays of a field.
func (f *field) fixed(sizes []int) *field {
	for _, n := range slices.Backward(sizes) {
		f = listOf(fixed, f)
		f.n, f.Type = n, arrow.FixedSizeListOfField(int32(n), f.kids[0].Field)
	}
	return f
}

// maxItems bounds the items of a fixed array.
const maxItems = 1 << 24

func listOf(k kind, item *field) *field {
	f := &field{kind: k, kids: []*field{item}, counter: -1}
	f.Name = item.Name
	item.Name = "item"
	f.Type = arrow.ListOfField(item.Field)
	return f
}

func (b *builder) string(name string) *field {
	f := &field{kind: text}
	f.Field = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
	if b.o.Binary {
		f.Type = arrow.BinaryTypes.Binary
	}
	return f
}

// numberField is a field of a basic type, or nil with the reason. The title may tell of floats that they have few bits.
func numberField(basic int, name, title string) (*field, string) {
	f := &field{kind: number, size: bytesOf(basic)}
	f.Name = name
	switch basic {
	case typeBool:
		f.kind, f.Type = boolean, arrow.FixedWidthTypes.Boolean
	case typeFloat:
		f.Type = arrow.PrimitiveTypes.Float32
	case typeDouble:
		f.Type = arrow.PrimitiveTypes.Float64
	case typeDouble32:
		f.kind, f.Type = wider, arrow.PrimitiveTypes.Float64
		return f, f.narrow(basic, title)
	case typeFloat16:
		f.Type = arrow.PrimitiveTypes.Float32
		return f, f.narrow(basic, title)
	case kindCharStar, typeCounted, 0:
		return nil, "pointers to text"
	default:
		signed := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}
		unsigned := []arrow.DataType{arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64}
		log := map[int]int{1: 0, 2: 1, 4: 2, 8: 3}
		if f.Type = signed[log[f.size]]; basic > typeLegacyChar && basic != typeLong64 {
			f.Type = unsigned[log[f.size]]
		}
	}
	return f, ""
}

// member is the field of a branch that is a member of a class, or an object as a whole.
func (b *builder) member(o, l *classObject, name string) (*field, string) {
	t := int(o.int("fStreamerType"))
	inCollection := o.int("fType") == 31 || o.int("fType") == 41
	of, title := o.text("fClassName"), ""
	if id := int(o.int("fID")); id >= 0 { // a member of that class
		e := b.element(o, id)
		if e == nil {
			return nil, "the file does not describe the class " + of
		}
		of, t, title = e.of, cmp.Or(t, e.kind), e.title
	}
	basic := t % typeArray
	switch f, reason := (*field)(nil), ""; {
	case o.int("fType") == 3 || o.int("fType") == 4:
		return nil, "a collection whose items have no members"
	case t > 0 && t < typeCounted+typeArray && basic > 0:
		if f, reason = numberField(basic, name, title); reason != "" {
			return nil, reason
		}
		if t > typeCounted {
			if inCollection {
				return nil, "arrays with counters in a collection"
			}
			f = listOf(rest, f)
			f.flag = true
			return f, ""
		}
		if f, reason = b.arrays(f, l); f == nil {
			return nil, reason
		}
		if inCollection && f.kind != rest {
			f = listOf(rest, f)
		}
		return f, ""
	case t == kindTString:
		if f = b.string(name); inCollection {
			f = listOf(rest, f)
		}
		return f, ""
	case inCollection:
		return nil, fmt.Sprintf("objects of type %s in a collection", of)
	}
	f, reason := b.typed(of, name, true, 0)
	if f != nil && f.kind == text && o.int("fID") < 0 {
		f.header = false
	}
	if f != nil && f.kind == parts {
		f.header, f.perhaps = false, true
	}
	return f, reason
}

// object is the field of objects of a class that the file describes, stored as a whole.
func (b *builder) object(class, name string, depth int) (*field, string) {
	versions := b.tree.classes[class]
	if len(versions) != 1 || depth > maxDepth || strings.HasPrefix(class, "TArray") || strings.HasPrefix(class, "TRef") || class == "TClonesArray" {
		return nil, "of type " + class
	}
	f := &field{kind: parts, header: class != "TDatime"}
	f.Name = name
	var fs []arrow.Field
	for _, members := range versions {
		for _, e := range members {
			if e.name == "This" { // a collection
				return nil, "of type " + e.of
			}
			kid, reason := b.part(&e, f, depth)
			if kid == nil {
				return nil, fmt.Sprintf("%s.%s, %s", class, e.name, reason)
			}
			if kid.hidden && kid.kind == parts && slices.ContainsFunc(kid.shown(nil), func(k *field) bool {
				return slices.ContainsFunc(fs, func(g arrow.Field) bool { return g.Name == k.Name })
			}) {
				kid.hidden = false
			}
			switch f.kids = append(f.kids, kid); {
			case kid.hidden && kid.kind == parts:
				fs = append(fs, kid.Type.(*arrow.StructType).Fields()...)
			case !kid.hidden:
				for slices.ContainsFunc(fs, func(g arrow.Field) bool { return g.Name == kid.Name }) {
					kid.Name += "_" // it hides a member of a base class
				}
				fs = append(fs, kid.Field)
			}
		}
	}
	f.Type = arrow.StructOf(fs...)
	return f, ""
}

// part is the field of a member of an object that is stored as a whole.
func (b *builder) part(e *element, in *field, depth int) (f *field, reason string) {
	basic := e.kind % typeArray
	var sizes []int
	total := 1
	for _, n := range e.sizes {
		if total *= int(n); n <= 0 || total > maxItems {
			return nil, fmt.Sprintf("an array of the dimensions %d", e.sizes)
		}
		sizes = append(sizes, int(n))
	}
	switch {
	case e.kind == kindTObject || e.kind == kindBase && e.name == "TObject":
		return &field{kind: tobject, hidden: true}, ""
	case e.kind == kindBase:
		if f, reason = b.object(e.name, e.name, depth+1); f != nil {
			f.hidden = true
		}
		return f, reason
	case bytesOf(basic) > 0 && e.kind < typeCounted+typeArray:
		if f, reason = numberField(basic, e.name, e.title); reason != "" {
			return nil, reason
		}
		if e.kind < typeCounted {
			return f.fixed(sizes), ""
		}
		f = listOf(rest, f)
		f.flag, f.counter = true, slices.IndexFunc(in.kids, func(k *field) bool { return k.Name == e.counter && k.kind == number })
		if f.counter < 0 {
			return nil, "its counter is not known"
		}
		return f, ""
	case e.kind == kindTString:
		return b.string(e.name), ""
	case len(sizes) == 0 && (e.kind == kindObject || e.kind == kindAny || e.kind == kindObjectp || e.kind == kindAnyp):
		return b.object(strings.TrimSuffix(e.of, "*"), e.name, depth+1)
	case len(sizes) == 0 && (e.kind == kindSTL || e.kind == kindSTLString || e.kind == kindStreamer):
		return b.typed(e.of, e.name, true, depth+1)
	}
	return nil, "of type " + e.of
}

// element is the description of the member that a branch is.
func (b *builder) element(o *classObject, id int) *element {
	versions := b.tree.classes[o.text("fClassName")]
	members, ok := versions[int(o.int("fClassVersion"))]
	if !ok && len(versions) == 1 {
		for _, only := range versions {
			members = only
		}
	}
	if id >= len(members) {
		return nil
	}
	return &members[id]
}

// numbers are the basic types of C++.
var numbers = map[string]int{
	"bool": typeBool, "Bool_t": typeBool, "char": typeChar, "Char_t": typeChar, "signed char": typeChar, "unsigned char": typeUChar, "UChar_t": typeUChar,
	"short": 2, "Short_t": 2, "unsigned short": 12, "UShort_t": 12, "int": typeInt, "Int_t": typeInt, "unsigned int": 13, "UInt_t": 13, "unsigned": 13,
	"long": typeLong, "Long_t": typeLong, "Long64_t": typeLong64, "long long": typeLong64, "unsigned long": typeULong, "ULong_t": typeULong,
	"ULong64_t": typeULong64, "unsigned long long": typeULong64, "float": typeFloat, "Float_t": typeFloat, "double": typeDouble, "Double_t": typeDouble,
	"int8_t": typeChar, "uint8_t": typeUChar, "int16_t": 2, "uint16_t": 12, "int32_t": typeInt, "uint32_t": 13, "int64_t": typeLong64, "uint64_t": typeULong64,
}

var collection = regexp.MustCompile(`^(?:std::)?(?:vector|list|deque|set|multiset|unordered_set|unordered_multiset|forward_list|ROOT::VecOps::RVec|ROOT::RVec)<(.*)>$`)

// typed is the field of a type of C++ that is stored as a whole: numbers, strings, and collections of them.
func (b *builder) typed(of, name string, header bool, depth int) (*field, string) {
	of = strings.TrimSpace(of)
	if basic, ok := numbers[of]; ok {
		return numberField(basic, name, "")
	}
	if of == "string" || of == "std::string" || of == "TString" {
		f := b.string(name)
		f.header = header && of != "TString"
		return f, ""
	}
	m := collection.FindStringSubmatch(of)
	if len(of) > 1000 {
		return nil, "of type " + of[:1000]
	}
	if m == nil {
		if !header {
			return nil, "collections of objects of type " + of
		}
		return b.object(of, name, depth+1)
	}
	inner := m[1]
	open := 0
	for i, c := range inner { // without the allocator
		switch c {
		case '<':
			open++
		case '>':
			open--
		case ',':
			if open == 0 {
				inner = inner[:i]
			}
		}
		if i >= len(inner) {
			break
		}
	}
	item, reason := b.typed(inner, name, false, depth+1)
	if item == nil {
		return nil, cmp.Or(reason, "of type "+of)
	}
	f := listOf(counted, item)
	f.header = header
	return f, ""
}

// place finds the baskets of a branch.
func (b *builder) place(o *classObject) (*branch, error) {
	br := &branch{name: o.text("fName"), entries: o.int("fEntries"), record: b.tree}
	n := int(o.int("fWriteBasket"))
	seeks, sizes, firsts := o.ints("fBasketSeek"), o.ints("fBasketBytes"), o.ints("fBasketEntry")
	if o.text("fFileName") != "" {
		return nil, fault.Unsupportedf("its values lie in another file, %q", o.text("fFileName"))
	}
	if n < 0 || n > len(seeks) || n > len(sizes) || n > len(firsts) || br.entries < 0 {
		return nil, fault.Corruptf("%d baskets, of which the places of %d are known, and %d entries", n, len(seeks), br.entries)
	}
	for i := range n {
		br.baskets = append(br.baskets, basketPlace{offset: seeks[i], size: sizes[i], first: firsts[i]})
	}
	for i, one := range o.list("fBaskets") { // those that were not written by themselves
		if p, ok := one.(*classObject); ok && p.class == "TBasket" && (i >= n || seeks[i] == 0) {
			at := basketPlace{object: p}
			if i < len(firsts) {
				at.first = firsts[i]
			}
			if i < n {
				br.baskets[i] = at
			} else {
				br.baskets = append(br.baskets, at)
			}
		}
	}
	for i := range br.baskets {
		at := &br.baskets[i]
		if at.last = br.entries; i+1 < len(br.baskets) {
			at.last = br.baskets[i+1].first
		}
		if i == 0 && at.first != 0 || at.first > at.last || at.last > br.entries {
			return nil, fault.Corruptf("basket %d has the entries %d to %d, of %d", i, at.first, at.last, br.entries)
		}
	}
	if br.entries > 0 && len(br.baskets) == 0 {
		return nil, fault.Corruptf("no basket for %d entries", br.entries)
	}
	return br, nil
}
