package planner

import (
	"bytes"

	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// likePrefix reports whether a LIKE pattern may have a fixed prefix: what it begins
// with is no wildcard, or not known yet.
func likePrefix(x plan.Expr) bool {
	switch x := x.(type) {
	case *plan.Const:
		return !x.Val.Null && len(x.Val.B) > 0 && x.Val.B[0] != '%' && x.Val.B[0] != '_'
	case *plan.Param:
		return true
	case *plan.Relabel:
		return likePrefix(x.X)
	case *plan.Call: // $1 || '%'
		return x.Proc.Src == "textcat" && likePrefix(x.Args[0])
	}
	return false
}

// prefixSel is the share of an entry's rows whose text begins as all do that a LIKE
// pattern fits: more than the pattern's own share where a wildcard is not its end.
func (p *planner) prefixSel(r *rel, col int, like plan.Expr) float64 {
	st := p.colStats(r, col)
	pattern, known := p.estimate(like)
	if st == nil || !known {
		return selLike
	}
	prefix := literalStart(pattern.B)
	common, left := 0.0, 1-st.NullFrac
	for i := range st.MCV {
		left -= st.MCF[i]
		if bytes.HasPrefix(st.MCV[i].B, prefix) {
			common += st.MCF[i]
		}
	}
	share := selLike
	if n := float64(len(st.Histogram)); n >= 10 {
		hits := 0.0
		for i := range st.Histogram {
			if bytes.HasPrefix(st.Histogram[i].B, prefix) {
				hits++
			}
		}
		share = max(hits/n, 1/(10*n))
	}
	return min(1, max(common+max(left, 0)*share, 1e-6))
}

// literalStart is what a LIKE pattern has before its first wildcard.
func literalStart(pattern []byte) []byte {
	var out []byte
	for i := 0; i < len(pattern); i++ {
		switch b := pattern[i]; {
		case b == '%' || b == '_':
			return out
		case b == '\\' && i+1 < len(pattern):
			i++
			out = append(out, pattern[i])
		default:
			out = append(out, b)
		}
	}
	return out
}

// fixedPrefix turns the prefix that all texts begin with for which text ~ x or
// text ^@ x holds into a LIKE pattern; nil when there is none.
func fixedPrefix(op string, x plan.Expr) plan.Expr {
	c, ok := x.(*plan.Const)
	if !ok || c.Val.Null {
		return nil
	}
	prefix := c.Val.B
	if op == "~" {
		prefix = regexPrefix(prefix)
	}
	if len(prefix) == 0 {
		return nil
	}
	var like []byte
	for _, b := range prefix {
		if b == '%' || b == '_' || b == '\\' {
			like = append(like, '\\')
		}
		like = append(like, b)
	}
	return &plan.Const{At: plan.At{T: types.TText, Off: c.Off}, Val: types.Bytes(types.TText, append(like, '%'))}
}

// exactText is the only text of type t for which text ~ x holds, nil when there is none or
// more than one.
func exactText(x plan.Expr, t types.T) plan.Expr {
	if r, ok := x.(*plan.Relabel); ok {
		x = r.X
	}
	c, ok := x.(*plan.Const)
	if !ok || c.Val.Null {
		return nil
	}
	re, from := bytes.CutPrefix(c.Val.B, []byte("^"))
	re, to := bytes.CutSuffix(re, []byte("$"))
	if !from || !to {
		return nil
	}
	for _, open := range []string{"(?:", "("} {
		if in, ok := bytes.CutPrefix(re, []byte(open)); ok {
			if in, ok = bytes.CutSuffix(in, []byte(")")); ok {
				re = in
			}
			break
		}
	}
	var out []byte
	for i := 0; i < len(re); i++ {
		switch b := re[i]; {
		case b == '\\' && i+1 < len(re) && !isWordByte(re[i+1]):
			i++
			out = append(out, re[i])
		case bytes.IndexByte([]byte("\\.+*?{|^$[]()"), b) >= 0:
			return nil
		default:
			out = append(out, b)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return &plan.Const{At: plan.At{T: t, Off: c.Off}, Val: types.Bytes(t, out)}
}

// regexPrefix is what all matches of a regular expression begin with that is tied to
// the beginning and has no alternatives; SIMILAR TO makes ^(?:…)$.
func regexPrefix(re []byte) []byte {
	re, tied := bytes.CutPrefix(re, []byte("^"))
	if !tied || bytes.IndexByte(re, '|') >= 0 {
		return nil
	}
	if in, ok := bytes.CutPrefix(re, []byte("(?:")); ok {
		if in, ok = bytes.CutSuffix(in, []byte(")$")); ok && bytes.IndexByte(in, ')') < 0 {
			re = in
		}
	}
	var out []byte
	last := 0 // where the last character of out begins
	for i := 0; i < len(re); i++ {
		switch b := re[i]; {
		case bytes.IndexByte([]byte("*?{"), b) >= 0: // the last character may be missing
			return out[:last]
		case b == '\\' && i+1 < len(re) && !isWordByte(re[i+1]):
			i++
			last = len(out)
			out = append(out, re[i])
		case bytes.IndexByte([]byte("\\.+^$[]()"), b) >= 0:
			return out
		default:
			if b&0xc0 != 0x80 {
				last = len(out)
			}
			out = append(out, b)
		}
	}
	return out
}

// isWordByte reports whether a byte behind a backslash may be more than itself.
func isWordByte(b byte) bool {
	return b >= 0x80 || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
