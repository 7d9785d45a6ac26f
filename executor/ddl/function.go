package ddl

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// invalidFunction is a definition that PostgreSQL refuses as one.
func invalidFunction(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidFunctionDefinition, format, args...)
}

// createFunction is CREATE FUNCTION and CREATE PROCEDURE in the language SQL.
func (x *exec) createFunction(s *ast.CreateFunction) (string, error) {
	tag := "CREATE FUNCTION"
	if s.Procedure {
		tag = "CREATE PROCEDURE"
	}
	lang := s.Language
	switch lang {
	case "sql":
	case "":
		if s.SQLBody == nil {
			return "", invalidFunction("no language specified")
		}
		lang = "sql"
	case catalog.LanguageInternal:
		if s.Procedure {
			return "", sqlerr.Unsupported(s.Pos(), "%s in language \"%s\"", tag, lang)
		}
	case "plpgsql", "c":
		return "", sqlerr.Unsupported(s.Pos(), "%s in language \"%s\"", tag, lang)
	default:
		return "", sqlerr.New(sqlerr.UndefinedObject, "language \"%s\" does not exist", s.Language)
	}
	schema, name, err := x.target(&s.Name, false)
	if err != nil {
		return "", err
	}
	if l := x.snap().Language(x.db(), lang); l.Trusted {
		if err := x.snap().CheckPriv(x.User, l, catalog.PrivUsage); err != nil {
			return "", err
		}
	}
	f := &catalog.Function{Common: catalog.Common{Schema: schema, Name: name}, Language: lang, Procedure: s.Procedure, Volatile: 'v'}
	if err := x.parameters(f, s); err != nil {
		return "", err
	}
	if err := x.functionOptions(f, s.Options); err != nil {
		return "", err
	}
	if f.Rows != 0 && !f.RetSet {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "ROWS is not applicable when function does not return a set")
	}
	if lang == catalog.LanguageInternal {
		return tag, x.createInternal(f, s)
	}
	body, err := x.functionBody(f, s)
	if err != nil {
		return "", err
	}
	made, err := x.Change.CreateFunction(f, s.OrReplace)
	if err != nil {
		return "", err
	}
	if x.BodiesUnchecked && !f.Standard {
		return tag, nil
	}
	// The body may call the function itself, so it is checked when that is there, and as
	// it will run: with what SET gives it. One in standard form is bound here and now.
	check := func() error { return x.checkBody(made, s, body) }
	if !f.Standard {
		return tag, x.Configured(made, check)
	}
	if err := check(); err != nil {
		return tag, err
	}
	if text := planner.BodyText(x.Planner(), made, x.BodyText); text != "" {
		return tag, x.Change.AlterFunction(made.OID, func(f *catalog.Function) { f.Body = text })
	}
	return tag, nil
}

// functionType resolves the type of a parameter or a result, %TYPE included.
func (x *exec) functionType(n *ast.TypeName) (types.T, error) {
	if n.PctType {
		parts := n.Name.Parts
		k := len(parts) - 1
		if k < 1 {
			return types.T{}, sqlerr.New(sqlerr.SyntaxError, "improper %%TYPE reference (too few dotted names): %s", strings.Join(parts, ".")).At(n.Pos())
		}
		r, err := x.relation(&ast.Name{Off: n.Name.Off, Parts: parts[:k]})
		if err != nil {
			return types.T{}, err
		}
		for _, c := range r.RelColumns() {
			if !c.Dropped && c.Name == parts[k] {
				x.notice(sqlerr.SuccessfulCompletion, "type reference %s%%TYPE converted to %s", strings.Join(parts, "."), x.typeName(types.T{OID: c.Type.OID, Mod: -1, User: c.Type.User, Elem: c.Type.Elem}))
				t := c.Type
				t.Mod = -1
				return t, nil
			}
		}
		return types.T{}, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", parts[k], parts[k-1]).At(n.Pos())
	}
	one := *n
	one.SetOf = false
	t, err := planner.ResolveType(x.Planner(), &one)
	t.Mod = -1
	return t, withoutPosition(err)
}

// parameters resolves the parameters, their defaults and the result.
func (x *exec) parameters(f *catalog.Function, s *ast.CreateFunction) error {
	modes := map[string]byte{"": 'i', "IN": 'i', "OUT": 'o', "INOUT": 'b', "VARIADIC": 'v'}
	var out []types.T
	var variadic, defaults, named, other bool
	poly := map[bool]bool{} // by family: that of anycompatible is true
	add := func(p *ast.FuncParam, mode byte) error {
		if p.Type.SetOf {
			if s.Procedure {
				return invalidFunction("procedures cannot accept set arguments")
			}
			return invalidFunction("functions cannot accept set arguments")
		}
		t, err := x.functionType(&p.Type)
		if sqlerr.CodeOf(err) == sqlerr.UndefinedObject && mode != 't' {
			return sqlerr.New(sqlerr.UndefinedObject, "type %s does not exist", fullName(&p.Type.Name))
		}
		if err == nil {
			err = x.mayUseType(t)
		}
		if err != nil {
			return err
		}
		input := mode != 'o' && mode != 't'
		switch {
		case variadic && s.Procedure && mode != 't':
			return invalidFunction("VARIADIC parameter must be the last parameter")
		case mode == 'o' && defaults && s.Procedure:
			return invalidFunction("procedure OUT parameters cannot appear after one with a default value")
		case input && variadic:
			return invalidFunction("VARIADIC parameter must be the last input parameter")
		case input && isPolymorphic(t.OID):
			poly[strings.HasPrefix(x.typeName(t), "anycompatible")] = true
		case x.pseudo(t) && !isPolymorphic(t.OID) && f.Language == catalog.LanguageInternal:
			return sqlerr.Unsupported(p.Pos(), "a function in the language internal with arguments of type %s", x.typeName(t))
		case x.pseudo(t) && !isPolymorphic(t.OID):
			return invalidFunction("SQL functions cannot have arguments of type %s", x.typeName(t))
		}
		if mode == 'v' {
			variadic = true
			if in := x.snap().TypeInfo(t.OID); t.OID != types.OAnyarray && t.OID != types.OAnycompatiblearray && (in == nil || in.Elem == 0) {
				return invalidFunction("VARIADIC parameter must be an array")
			}
		}
		if mode == 'o' || mode == 'b' || mode == 't' {
			out = append(out, t)
		}
		for i, old := range f.ArgNames {
			pureIn := func(m byte) bool { return m == 'i' || m == 'v' }
			pureOut := func(m byte) bool { return m == 'o' || m == 't' }
			if p.Name != "" && old == p.Name && !(pureIn(mode) && pureOut(f.Mode(i))) && !(pureOut(mode) && pureIn(f.Mode(i))) {
				return invalidFunction("parameter name \"%s\" used more than once", p.Name)
			}
		}
		f.Args, f.ArgNames, f.ArgModes = append(f.Args, t), append(f.ArgNames, p.Name), append(f.ArgModes, mode)
		named = named || p.Name != ""
		other = other || mode != 'i'
		switch {
		case p.Default != nil && !input:
			return invalidFunction("only input parameters can have default values")
		case p.Default != nil:
			defaults = true
			st, err := planner.StoredExpr(x.Planner(), p.Default, nil, t, "DEFAULT expressions")
			if err != nil {
				return err
			}
			f.Defaults = append(f.Defaults, st.Text)
		case input && defaults && mode != 'v':
			return invalidFunction("input parameters after one with a default value must also have defaults")
		}
		return nil
	}
	for i := range s.Params {
		if err := add(&s.Params[i], modes[s.Params[i].Mode]); err != nil {
			return err
		}
	}
	for i := range s.RetTable {
		if err := add(&s.RetTable[i], 't'); err != nil {
			return err
		}
	}
	if !other {
		f.ArgModes = nil
	}
	if !named {
		f.ArgNames = nil
	}
	if len(f.Inputs()) > maxArguments {
		return sqlerr.New(sqlerr.TooManyArguments, "functions cannot have more than %d arguments", maxArguments)
	}
	return x.result(f, s, out, poly)
}

// takes reports whether an input of a function has one of the types.
func takes(f *catalog.Function, list ...types.OID) bool {
	return slices.ContainsFunc(f.Inputs(), func(t types.T) bool { return slices.Contains(list, t.OID) })
}

// maxArguments is how many arguments a function can have.
const maxArguments = 100

// result resolves what a function returns; out are its OUT parameters.
func (x *exec) result(f *catalog.Function, s *ast.CreateFunction, out []types.T, poly map[bool]bool) error {
	implied := types.T{OID: types.OVoid, Mod: -1}
	switch {
	case len(out) > 1 || len(out) == 1 && s.Procedure:
		implied = types.TRecord
	case len(out) == 1:
		implied = out[0]
	}
	switch {
	case s.RetTable != nil:
		f.Ret, f.RetSet = implied, true
	case s.Returns != nil:
		t, err := x.functionType(s.Returns)
		if err == nil {
			err = x.mayUseType(t)
		}
		if err != nil {
			return err
		}
		if len(out) > 0 && t.OID != implied.OID {
			return invalidFunction("function result type must be %s because of OUT parameters", x.typeName(implied))
		}
		f.Ret, f.RetSet = t, s.Returns.SetOf
	case s.Procedure || len(out) > 0:
		f.Ret = implied
	default:
		return invalidFunction("function result type must be specified")
	}
	for _, t := range append(out, f.Ret) {
		if !isPolymorphic(t.OID) {
			continue
		}
		name := x.typeName(t)
		needs, ok := "anyelement, anyarray, anynonarray, anyenum, anyrange, or anymultirange", poly[false]
		switch t.OID {
		case types.OAnyrange, types.OAnymultirange:
			needs, ok = "anyrange or anymultirange", takes(f, types.OAnyrange, types.OAnymultirange)
		case types.OAnycompatiblerange, types.OAnycompatiblemultirange:
			needs, ok = "anycompatiblerange or anycompatiblemultirange", takes(f, types.OAnycompatiblerange, types.OAnycompatiblemultirange)
		default:
			if strings.HasPrefix(name, "anycompatible") {
				needs, ok = "anycompatible, anycompatiblearray, anycompatiblenonarray, anycompatiblerange, or anycompatiblemultirange", poly[true]
			}
		}
		if !ok {
			return invalidFunction("cannot determine result data type").
				WithDetail("A result of type %s requires at least one input of type %s.", name, needs)
		}
	}
	if t := f.Ret; x.pseudo(t) && t.OID != types.OVoid && t.OID != types.ORecord && !isPolymorphic(t.OID) {
		return invalidFunction("SQL functions cannot return type %s", x.typeName(t))
	}
	return nil
}

func (x *exec) pseudo(t types.T) bool {
	in := x.snap().TypeInfo(t.OID)
	return in != nil && in.Type == 'p'
}

func isPolymorphic(o types.OID) bool { return planner.Polymorphic(o) }

// functionOptions applies attributes; each may be given once.
func (x *exec) functionOptions(f *catalog.Function, opts []ast.Option) error {
	seen := map[string]bool{}
	for i := range opts {
		o := &opts[i]
		kind := o.Name
		switch kind {
		case "called on null input":
			kind = "strict"
		case "not leakproof":
			kind = "leakproof"
		}
		if o.Set != nil { // of which there may be any number
			if err := x.functionSetting(f, o.Set); err != nil {
				return err
			}
			continue
		}
		if seen[kind] {
			return redundant(o)
		}
		seen[kind] = true
		if f.Procedure && kind != "security" && kind != "set" && kind != "reset" {
			return invalidFunction("invalid attribute in procedure definition").At(o.Pos())
		}
		switch o.Name {
		case "volatility":
			f.Volatile = optionText(o)[0]
		case "strict":
			f.Strict = true
		case "called on null input":
			f.Strict = false
		case "security":
			f.Definer = optionText(o) == "definer"
		case "window":
			if f.Language != catalog.LanguageInternal {
				return sqlerr.Unsupported(o.Pos(), "WINDOW of a function in language %s", f.Language)
			}
			f.Window = true
		case "leakproof":
			if r := x.snap().Role(x.User); r == nil || !r.Super {
				return sqlerr.New(sqlerr.InsufficientPrivilege, "only superuser can define a leakproof function")
			}
			f.LeakProof = true
		case "not leakproof":
			f.LeakProof = false
		case "parallel":
			v := optionText(o)
			if v != "safe" && v != "restricted" && v != "unsafe" {
				return sqlerr.New(sqlerr.SyntaxError, "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE")
			}
			f.Parallel = v[0]
		case "cost", "rows":
			v, err := types.Parse(types.TFloat8, optionText(o), types.DefaultFmt)
			if err != nil {
				return err
			}
			if v.F <= 0 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "%s must be positive", strings.ToUpper(o.Name))
			}
			if o.Name == "cost" {
				f.Cost = v.F
			} else {
				f.Rows = v.F
			}
		case "support":
			name := optionText(o)
			if !slices.ContainsFunc(catalog.ProcsByName(name[strings.LastIndexByte(name, '.')+1:]), func(p *catalog.Proc) bool { return slices.Equal(p.Args, []types.OID{types.OInternal}) }) {
				return sqlerr.New(sqlerr.UndefinedFunction, "function %s(internal) does not exist", name)
			}
			fallthrough
		default:
			return sqlerr.Unsupported(o.Pos(), "%s of a function", strings.ToUpper(o.Name))
		}
	}
	return nil
}

// functionSetting is SET and RESET of a function.
func (x *exec) functionSetting(f *catalog.Function, s *ast.SetVar) error {
	name := strings.ToLower(s.Name)
	is := func(kv string) bool { return strings.HasPrefix(strings.ToLower(kv), name+"=") }
	if s.All {
		f.Config = nil
		return nil
	}
	switch name {
	case "role", "session_authorization", "seed", "transaction_isolation", "transaction_read_only", "transaction_deferrable":
		return sqlerr.Unsupported(s.Pos(), "SET %s of a function", name)
	}
	v, err := x.Setting(s)
	if err != nil {
		return err
	}
	shown := name
	for _, st := range catalog.Settings() {
		if strings.EqualFold(st.Name, name) {
			shown = st.Name
		}
	}
	at := slices.IndexFunc(f.Config, is)
	list := slices.Clone(f.Config)
	switch {
	case s.Reset || s.Default:
		f.Config = slices.DeleteFunc(list, is)
		return nil
	case at >= 0:
		list[at] = shown + "=" + v
	default:
		list = append(list, shown+"="+v)
	}
	f.Config = list
	return nil
}

// functionBody takes the body from where it was written, and parses it.
func (x *exec) functionBody(f *catalog.Function, s *ast.CreateFunction) ([]ast.Stmt, error) {
	switch {
	case s.SQLBody != nil && s.HasBody:
		return nil, invalidFunction("duplicate function body specified")
	case s.SQLBody != nil:
		f.Standard = true
		// a copy gets the schemas of all names: the session's path may change
		copied, err := x.Planner().Texts.ParseBody(s.BodyText, true)
		if err != nil {
			return nil, err
		}
		planner.QualifyBody(x.Planner(), copied)
		f.Body = standardText(s.BodyText, copied)
		return s.SQLBody, nil
	case s.Body2 != "":
		return nil, invalidFunction("only one AS item needed for language \"%s\"", f.Language)
	case !s.HasBody:
		return nil, invalidFunction("no function body specified")
	}
	f.Body = s.Body
	if x.BodiesUnchecked {
		return nil, nil
	}
	body, err := x.Planner().Texts.ParseBody(f.Body, false)
	return body, inBody(s, err)
}

// checkBody plans the statements of a body as far as the types of the arguments
// are known.
func (x *exec) checkBody(f *catalog.Function, s *ast.CreateFunction, body []ast.Stmt) error {
	for _, t := range f.Inputs() {
		if isPolymorphic(t.OID) {
			if f.Standard {
				return invalidFunction("SQL function with unquoted function body cannot have polymorphic arguments")
			}
			return nil
		}
	}
	if len(body) == 0 {
		return x.inFunction(f, planner.CheckBody(x.Planner(), f, nil, true))
	}
	for i, st := range body {
		if err := planner.CheckBody(x.Planner(), f, st, i == len(body)-1); err != nil {
			if !f.Standard {
				err = inBody(s, err)
			}
			return x.inFunction(f, err)
		}
	}
	return nil
}

// inFunction says of which function's definition an error is that points at no place in
// it. What is wrong with the statements of a body in standard form, its result aside,
// is an error of the definition itself.
func (x *exec) inFunction(f *catalog.Function, err error) error {
	e, ok := err.(*sqlerr.Error)
	if !ok || e.Pos > 0 || e.Where != "" || f.Standard && e.Code != sqlerr.InvalidFunctionDefinition {
		return err
	}
	c := *e
	c.Where = "SQL function \"" + f.Name + "\""
	return &c
}

// standardText writes RETURN … or BEGIN ATOMIC … END with the statements.
func standardText(old string, body []ast.Stmt) string {
	if len(old) >= 6 && strings.EqualFold(old[:6], "return") {
		return ast.Format(body[0])
	}
	var b strings.Builder
	b.WriteString("BEGIN ATOMIC\n")
	for _, st := range body {
		b.WriteString(" " + ast.Format(st) + ";\n")
	}
	return b.String() + "END"
}

// alterFunction is ALTER FUNCTION, PROCEDURE and ROUTINE.
func (x *exec) alterFunction(s *ast.AlterObject) error {
	f, err := x.function(s.Kind, &s.Name, s.Args)
	if err != nil {
		return err
	}
	switch s.Action {
	case "RENAME":
		return x.Change.RenameFunction(f.OID, s.NewName)
	case "OWNER":
		return x.Change.SetOwner(f.OID, x.roleName(s.NewName))
	case "SET SCHEMA":
		return x.Change.SetSchema(f.OID, s.NewName)
	case "OPTIONS":
		if f.Agg != nil {
			return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is an aggregate function", fullName(&s.Name))
		}
		for i := range s.Options {
			if s.Options[i].Name == "rows" && !f.RetSet {
				return sqlerr.New(sqlerr.InvalidParameterValue, "ROWS is not applicable when function does not return a set")
			}
		}
		n := *f
		if err := x.functionOptions(&n, s.Options); err != nil {
			return err
		}
		return x.Change.AlterFunction(f.OID, func(f *catalog.Function) { *f = n })
	}
	return sqlerr.Unsupported(s.Pos(), "ALTER %s %s", s.Kind, s.Action)
}

// function finds a function by name and, where they were written, argument
// types. kind is FUNCTION, PROCEDURE or ROUTINE.
func (x *exec) function(kind string, n *ast.Name, args []ast.TypeName) (*catalog.Function, error) {
	if err := x.namespace(n); err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(slices.Clone(x.Planner().SearchPath), catalog.IsTempSchema)
	if s := n.Schema(); s != "" {
		paths = []string{x.schemaNamed(s)}
	}
	var want []types.OID
	var shown []string
	for i := range args {
		t, err := x.functionType(&args[i])
		if err != nil {
			if sqlerr.CodeOf(err) == sqlerr.UndefinedObject {
				return nil, sqlerr.New(sqlerr.UndefinedObject, "type \"%s\" does not exist", fullName(&args[i].Name))
			}
			return nil, err
		}
		want = append(want, t.OID)
		shown = append(shown, x.typeName(t))
	}
	moded := slices.ContainsFunc(args, func(t ast.TypeName) bool { return t.In })
	var hits []*catalog.Function
	seen := map[string]bool{}
	for _, s := range paths {
		for _, f := range x.snap().Functions(x.db(), s, n.Last()) {
			match, sig := args == nil, ""
			for _, in := range [][]types.T{f.Inputs(), f.Args} { // OUT arguments of procedures may be named or left out
				match = match || (f.Procedure && !moded || len(in) == len(f.Inputs())) &&
					slices.EqualFunc(in, want, func(t types.T, o types.OID) bool { return t.OID == o })
			}
			for _, t := range f.Inputs() {
				sig += x.typeName(t) + ","
			}
			if match && args == nil && (kind == "FUNCTION" && f.Procedure || kind == "PROCEDURE" && !f.Procedure) {
				continue
			}
			if match && !seen[sig] {
				hits, seen[sig] = append(hits, f), true
			}
		}
	}
	what := strings.ToLower(kind)
	if kind == "ROUTINE" {
		what = "function"
	}
	sig := fullName(n) + "(" + strings.Join(shown, ", ") + ")"
	if kind == "AGGREGATE" && len(want) == 0 {
		sig = fullName(n) + "(*)"
	}
	switch {
	case len(hits) == 0 && args == nil:
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "could not find a %s named \"%s\"", what, fullName(n))
	case len(hits) == 0:
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "%s %s does not exist", what, sig)
	case len(hits) > 1:
		what = strings.ToLower(kind)
		e := sqlerr.New(sqlerr.AmbiguousFunction, "%s name \"%s\" is not unique", what, fullName(n))
		if args == nil {
			e = e.WithHint("Specify the argument list to select the %s unambiguously.", what)
		}
		return nil, e
	}
	f := hits[0]
	if args == nil {
		shown = nil
		for _, t := range f.Inputs() {
			shown = append(shown, x.typeName(t))
		}
		sig = fullName(n) + "(" + strings.Join(shown, ", ") + ")"
	}
	switch {
	case kind == "AGGREGATE" && f.Agg == nil:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "function %s is not an aggregate", sig)
	case kind == "FUNCTION" && f.Procedure:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%s is not a function", sig)
	case kind == "PROCEDURE" && !f.Procedure:
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%s is not a procedure", sig)
	}
	return f, nil
}
