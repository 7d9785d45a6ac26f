package planner

import (
	"kvsqld/catalog/types"
	"kvsqld/planner/plan"
)

// polyTypes is what the polymorphic types of one call stand for: those of the
// family of anyelement, which must agree exactly, and those of the family of
// anycompatible, which have a common type. 0 is unknown.
type polyTypes struct {
	elem, array, rng, multirange                   types.OID
	common, commonArray, commonRange, commonMultir types.OID
}

func isCompatible(o types.OID) bool {
	switch o {
	case types.OAnycompatible, types.OAnycompatiblearray, types.OAnycompatiblenonarray, types.OAnycompatiblerange, types.OAnycompatiblemultirange:
		return true
	}
	return false
}

// concrete is the type that o stands for: itself unless it is polymorphic.
func (p *planner) concrete(f polyTypes, o types.OID) types.OID {
	arrayOf := func(known, elem types.OID) types.OID {
		if known == 0 && elem != 0 {
			return p.info(elem).Array
		}
		return known
	}
	switch o {
	case types.OAnyelement, types.OAnynonarray, types.OAnyenum:
		return f.elem
	case types.OAnyarray:
		return arrayOf(f.array, f.elem)
	case types.OAnyrange:
		return f.rng
	case types.OAnymultirange:
		return f.multirange
	case types.OAnycompatible, types.OAnycompatiblenonarray:
		return f.common
	case types.OAnycompatiblearray:
		return arrayOf(f.commonArray, f.common)
	case types.OAnycompatiblerange:
		return f.commonRange
	case types.OAnycompatiblemultirange:
		return f.commonMultir
	}
	return o
}

// polyConsistent checks that polymorphic arguments can agree.
func (p *planner) polyConsistent(args, in []types.OID) bool {
	_, ok := p.polyFamily(args, in)
	return ok
}

// polyFamily finds what the declared polymorphic types stand for, given the
// actual ones, of which there may be fewer; ok is false when they disagree.
func (p *planner) polyFamily(args, in []types.OID) (f polyTypes, ok bool) {
	set := func(to *types.OID, t types.OID) bool {
		if *to == 0 {
			*to = t
		}
		return *to == t
	}
	var nonArray, enum bool
	var found []plan.Expr
	add := func(t types.OID) { found = append(found, &plan.Const{At: plan.At{T: p.T(t, -1), Off: -1}}) }
	for i := range min(len(args), len(in)) {
		t := in[i]
		enum = enum || args[i] == types.OAnyenum
		if t == types.OUnknown || !isPoly(args[i]) {
			continue
		}
		base := p.Snap.BaseType(p.T(t, -1)).OID
		ok := true
		switch args[i] {
		case types.OAnynonarray:
			nonArray, ok = true, set(&f.elem, t)
		case types.OAnyenum:
			ok = set(&f.elem, t)
		case types.OAnyelement:
			ok = set(&f.elem, t)
		case types.OAnyarray:
			ok = set(&f.array, base)
		case types.OAnyrange:
			ok = set(&f.rng, base)
		case types.OAnymultirange:
			ok = set(&f.multirange, base)
		case types.OAnycompatiblearray:
			e := p.info(base).Elem
			if ok = e != 0; ok {
				add(e)
			}
		case types.OAnycompatiblenonarray:
			ok = p.info(base).Kind != types.KArray
			add(t)
		case types.OAnycompatiblerange:
			ok = set(&f.commonRange, base)
		case types.OAnycompatiblemultirange:
			ok = set(&f.commonMultir, base)
		default:
			add(t)
		}
		if !ok {
			return f, false
		}
	}
	if f.array != 0 && f.array != types.OAnyarray && !set(&f.elem, p.info(f.array).Elem) {
		return f, false
	}
	if !p.rangeFamily(&f.rng, &f.multirange) || !p.rangeFamily(&f.commonRange, &f.commonMultir) {
		return f, false
	}
	if f.rng != 0 {
		sub := p.info(f.rng).Subtype
		if !set(&f.elem, sub) {
			return f, false
		}
	}
	if enum && (f.elem == 0 || p.info(f.elem).Kind != types.KEnum) || f.elem != 0 && nonArray && p.isArray(p.Snap.BaseType(p.T(f.elem, -1)).OID) {
		return f, false
	}
	if f.commonRange != 0 {
		sub := p.info(f.commonRange).Subtype
		add(sub)
	}
	if len(found) == 0 {
		return f, true
	}
	f.common = p.commonType("", found).OID
	for _, e := range found {
		if f.common == 0 || !p.canCoerce(e.Type().OID, f.common, implicit) {
			return f, false
		}
	}
	if f.commonRange != 0 {
		sub := p.info(f.commonRange).Subtype
		return f, sub == f.common
	}
	return f, true
}

// rangeFamily completes a range type and its multirange type by each other.
func (p *planner) rangeFamily(rng, multirange *types.OID) bool {
	if *rng == 0 && *multirange != 0 {
		*rng = p.info(*multirange).Range
	}
	if *rng == 0 {
		return true
	}
	m := p.info(*rng).Multirange
	if *multirange == 0 {
		*multirange = m
	}
	return *multirange == m
}
