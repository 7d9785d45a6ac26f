package table

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"kvsqld/catalog"
	"kvsqld/storage/codec"
	"kvsqld/storage/kv"
)

// Inspect prints up to limit keys and values (0: all) of the master file (ix nil)
// or an index, readable beside raw, and the totals of what it printed. Damaged
// values are shown with what is wrong.
func (d *Desc) Inspect(ctx context.Context, r Reader, ix *catalog.Index, limit int, w io.Writer) error {
	x, err := d.index(ix)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	sp := d.fileOf(x)
	it := r.Scan(ctx, sp, kv.Range{}, kv.ScanOpt{Limit: limit})
	defer it.Close()
	var n, keyBytes, valBytes int
	for {
		pairs, err := it.Next()
		if err != nil {
			return err
		}
		if len(pairs) == 0 {
			break
		}
		for _, p := range pairs {
			key, val := d.PrettyPair(ix, p.Key, p.Val)
			fmt.Fprintf(out, "%s → %s\n    %x → %x\n", key, val, p.Key, p.Val)
			n, keyBytes, valBytes = n+1, keyBytes+len(p.Key), valBytes+len(p.Val)
		}
	}
	fmt.Fprintf(out, "%s: %d pairs, %d bytes of keys, %d bytes of values\n", sp.File, n, keyBytes, valBytes)
	return out.Flush()
}

// PrettyPair returns a pair of the master file (ix nil) or an index in readable
// form.
func (d *Desc) PrettyPair(ix *catalog.Index, key, val []byte) (k, v string) {
	x, err := d.index(ix)
	if err != nil || x == nil {
		names := make([]string, d.row.Len())
		for c, a := range d.attrOf {
			if a >= 0 && d.liveOf[c] >= 0 {
				names[a] = d.Table.Columns[c].Name
			}
		}
		return d.key.Pretty(key), d.row.Pretty(key, val, names)
	}
	out, rest := x.key.AppendPretty(nil, key)
	if len(rest) > 0 {
		out = append(append(out, " +"...), d.key.Pretty(rest)...)
	}
	e, err := codec.OpenEntry(key, val)
	if err != nil {
		return string(out), "<" + err.Error() + ">"
	}
	v = "-"
	if e.Master != nil {
		v = d.key.Pretty(e.Master)
	}
	if e.Include != nil {
		names := make([]string, len(x.cat.Include))
		for i, c := range x.cat.Include {
			names[i] = d.Table.Columns[c].Name
		}
		v += " " + x.include.PrettyInclude(e, names)
	}
	return string(out), v
}

// PrettyKey returns a row key in readable form.
func (d *Desc) PrettyKey(key []byte) string { return d.key.Pretty(slices.Clip(key)) }
