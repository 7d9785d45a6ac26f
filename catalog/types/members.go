package types

import "bytes"

// Members returns the keys of a map, a jsonb object or an hstore, shorter ones first,
// and what there is of each member: of jsonb the text "key": value, of hstore the
// value, which may be NULL. It is false for other jsonb values. The value is not
// checked again.
func Members(d Datum) (keys [][]byte, members []Datum, ok bool) {
	if d.T.Kind() == KHstore {
		for _, p := range HstorePairs(d.B) {
			keys, members = append(keys, p.Key), append(members, Datum{T: TText, B: p.Val, Null: p.Null})
		}
		return keys, members, true
	}
	n := parseStoredJSONB(d.B)
	if n.kind != jsonObject {
		return nil, nil, false
	}
	for i := range n.items {
		one := jsonNode{kind: jsonObject, keys: n.keys[i : i+1], items: n.items[i : i+1]}
		text := one.append(nil)
		members = append(members, Bytes(TText, text[1:len(text)-1]))
	}
	return n.keys, members, true
}

// JoinMembers is the inverse of Members. It copies what it is given.
func JoinMembers(t T, keys [][]byte, members []Datum) Datum {
	if t.Kind() == KHstore {
		pairs := make([]HstorePair, len(keys))
		for i, m := range members {
			pairs[i] = HstorePair{Key: keys[i], Val: m.B, Null: m.Null}
		}
		d := NewHstore(pairs)
		d.T = t
		return d
	}
	texts := make([][]byte, len(members))
	for i, m := range members {
		texts[i] = m.B
	}
	return Bytes(t, append(append([]byte{'{'}, bytes.Join(texts, []byte(", "))...), '}'))
}
