package types

// parsePart is Parse for a field of a row: its type may be a domain, or an array of one,
// which the value must satisfy.
func parsePart(t T, s string, o *FmtOpts) (Datum, error) {
	base, ok := domainBase(t, o.Reg)
	if !ok {
		return Parse(t, s, o)
	}
	d, err := Parse(base, s, o)
	if err != nil {
		return d, err
	}
	return o.Reg.InDomain(t, d)
}

// nullPart is NULL as parsePart gives it: a domain may refuse it.
func nullPart(t T, reg RegNames) (Datum, error) {
	if base, ok := domainBase(t, reg); ok {
		return reg.InDomain(t, Null(base))
	}
	return Null(t), nil
}

func domainBase(t T, reg RegNames) (T, bool) {
	if t.OID < FirstUserOID || reg == nil {
		return t, false
	}
	return reg.DomainBase(t)
}
