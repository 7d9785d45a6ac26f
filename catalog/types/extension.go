package types

import "cmp"

// Types of extensions are held as built-in ones are, with fixed OIDs, so that arrays
// and rows of them can be read without a catalog. The OIDs are above 10,000: drivers
// take those below for types that they know, or else refuse. They have no name until a database
// makes the extension: a catalog's snapshot gives it to them.
const (
	OCitext    OID = 15900
	OCitextArr OID = 15901
	OHstore    OID = 15902
	OHstoreArr OID = 15903
)

var extensionTypes = []*Info{
	{OID: OCitext, Name: "citext", SQLName: "citext", Kind: KCitext, Len: -1, Type: 'b', Category: 'S', Array: OCitextArr, Delim: ',',
		Align: 'i', Storage: 'x', In: 9800, Out: 9801, Recv: 9802, Send: 9803, Extension: "citext"},
	{OID: OHstore, Name: "hstore", SQLName: "hstore", Kind: KHstore, Len: -1, Type: 'b', Category: 'U', Array: OHstoreArr, Delim: ',',
		Align: 'i', Storage: 'x', In: 9900, Out: 9901, Recv: 9902, Send: 9903, Extension: "hstore"},
}

// ExtensionTypes returns the types of an extension, each followed by its array type.
func ExtensionTypes(extension string) []*Info {
	var out []*Info
	for _, in := range extensionTypes {
		if in.Extension == extension {
			out = append(out, in, Lookup(in.Array))
		}
	}
	return out
}

// loadExtensionTypes enters the types into the lookup by OID, but not by name.
func (t *typeTable) loadExtensionTypes() {
	text := t.direct[OTextArr]
	enter := func(in *Info) { t.direct[in.OID], t.kinds[in.OID] = in, in.Kind }
	for _, in := range extensionTypes {
		enter(in)
		enter(&Info{OID: in.Array, Name: "_" + in.Name, SQLName: in.SQLName + "[]", Kind: KArray, Len: -1, Type: 'b', Category: 'A',
			Elem: in.OID, Delim: ',', Align: 'i', Storage: 'x', In: text.In, Out: text.Out, Recv: text.Recv, Send: text.Send,
			Extension: in.Extension})
	}
}

// AppendLower appends a text with its letters in lower case; under collation C
// those are A to Z.
func AppendLower(dst, s []byte) []byte {
	for _, c := range s {
		dst = append(dst, lowerByte(c))
	}
	return dst
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// compareCitext orders texts as they are in lower case.
func compareCitext(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if x, y := lowerByte(a[i]), lowerByte(b[i]); x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
}
