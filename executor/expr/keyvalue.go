package expr

import (
	"unicode/utf8"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// KeyScanChunk is the number of pairs that SessionInfo.KeyScan returns at most;
// fewer are the last ones.
const KeyScanChunk = 1024

// keyValueFuncs registers kv_get and its siblings, which the session answers.
func keyValueFuncs(r *registry) {
	for _, src := range []string{"kvsqld_kv_get", "kvsqld_kv_set", "kvsqld_kv_add", "kvsqld_kv_replace", "kvsqld_kv_delete"} {
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			s, err := c.session()
			if err != nil {
				return null, err
			}
			return s.KeyValue(c.env.Ctx, src, a)
		}), src)
	}
	r.addSet(setOf(kvScan), "kvsqld_kv_scan")
}

// largeObjectFuncs registers the functions of large objects, which the session answers.
func largeObjectFuncs(r *registry) {
	for _, src := range []string{"be_lo_create", "be_lo_creat", "be_lo_open", "be_lo_close", "be_loread", "be_lowrite", "be_lo_lseek",
		"be_lo_lseek64", "be_lo_tell", "be_lo_tell64", "be_lo_truncate", "be_lo_truncate64", "be_lo_unlink", "be_lo_from_bytea",
		"be_lo_get", "be_lo_get_fragment", "be_lo_put", "be_lo_import", "be_lo_import_with_oid", "be_lo_export"} {
		r.add(fnD(func(c *callCtx, a []types.Datum) (types.Datum, error) {
			s, err := c.session()
			if err != nil {
				return null, err
			}
			return s.LargeObject(c.env.Ctx, src, a, c.call.T)
		}), src)
	}
}

func setOf(body setBody) setBuilder { return func(*plan.Call) setBody { return body } }

// kvScan reads the pairs of a prefix chunk by chunk.
func kvScan(c *callCtx, a []types.Datum) (func(*emitter) (bool, error), error) {
	s, err := c.session()
	if err != nil {
		return nil, err
	}
	table, from := types.OID(a[0].I), string(a[1].B)
	before := prefixEnd(from)
	return func(out *emitter) (bool, error) {
		rows, err := s.KeyScan(c.env.Ctx, table, from, before)
		if err != nil {
			return false, err
		}
		for _, r := range rows {
			out.row(r...)
		}
		if len(rows) < KeyScanChunk {
			return false, nil
		}
		// The least text after the last key: texts have no NUL.
		from = string(rows[len(rows)-1][0].B) + "\x01"
		return true, nil
	}, nil
}

// prefixEnd is the least text that sorts after all texts with the prefix, ""
// when there is none. Texts sort by code points, as their UTF-8 does by bytes.
func prefixEnd(prefix string) string {
	for prefix != "" {
		r, n := utf8.DecodeLastRuneInString(prefix)
		prefix = prefix[:len(prefix)-n]
		switch {
		case r == 0xD7FF:
			return prefix + "\uE000" // surrogates are no characters
		case r < utf8.MaxRune:
			return prefix + string(r+1)
		}
	}
	return ""
}
