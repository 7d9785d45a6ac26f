package catalog

import (
	"strings"

	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
)

// ParseBool reads a boolean as PostgreSQL's options have it: an unambiguous
// beginning of true, false, yes or no, or on, off, 1, 0.
func ParseBool(s string) (value, ok bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	begins := func(word string, least int) bool { return len(s) >= least && strings.HasPrefix(word, s) }
	switch {
	case begins("true", 1), begins("yes", 1), s == "on", s == "1":
		return true, true
	case begins("false", 1), begins("no", 1), begins("off", 2), s == "0":
		return false, true
	}
	return false, false
}

// BoolOption is the value of a boolean option; one that is not set is false.
func BoolOption(s string) bool {
	v, _ := ParseBool(s)
	return v
}

// The names of a view's options.
const (
	OptSecurityBarrier = "security_barrier"
	OptSecurityInvoker = "security_invoker"
	OptCheckOption     = "check_option"
)

// SetViewOption changes an option of a view's; set false removes it.
func (v *View) SetViewOption(name, value string, set bool) error {
	switch name {
	case OptCheckOption:
		if set && value != "local" && value != "cascaded" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for enum option \"%s\": %s", name, value).
				WithDetail("Valid values are \"local\" and \"cascaded\".")
		}
		if v.CheckOption = ""; set {
			v.CheckOption = value
		}
		return nil
	case OptSecurityBarrier, OptSecurityInvoker:
		if _, ok := ParseBool(value); set && !ok {
			return sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for boolean option \"%s\": %s", name, value)
		}
	default:
		if set {
			return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", name)
		}
	}
	if v.Options = v.Options.Without(name); set {
		v.Options = v.Options.With(name, value)
	}
	return nil
}

// RelOptions are the view's options as pg_class has them, the check option last.
func (v *View) RelOptions() []string {
	var out []string
	for _, o := range v.Options {
		out = append(out, o.Name+"="+o.Value)
	}
	if v.CheckOption != "" {
		out = append(out, OptCheckOption+"="+v.CheckOption)
	}
	return out
}

// EditView changes a copy of a view that is not materialized.
func (c *Change) EditView(oid types.OID, edit func(v *View) error) error {
	old, ok := c.snap.objs.get(oid).(*View)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	v := *old
	v.Columns = append([]Column(nil), old.Columns...)
	if err := edit(&v); err != nil {
		return err
	}
	return c.put(&v)
}

// EditMaterialized changes a copy of the table that a materialized view's rows
// are in.
func (c *Change) EditMaterialized(oid types.OID, edit func(m *Table)) error {
	return c.editStorage(oid, edit)
}
