package ddl

import (
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
	"kvsqld/planner"
)

// operatorParts are the options of CREATE OPERATOR.
type operatorParts struct {
	left, right, function, commutator, negator, restrict, join *ast.Option
	hashes, merges                                             bool
}

func (x *exec) operatorOptions(opts []ast.Option) (p operatorParts) {
	for i := range opts {
		o := &opts[i]
		switch o.Name {
		case "leftarg":
			p.left = o
		case "rightarg":
			p.right = o
		case "function", "procedure":
			p.function = o
		case "commutator":
			p.commutator = o
		case "negator":
			p.negator = o
		case "restrict":
			p.restrict = o
		case "join":
			p.join = o
		case "hashes":
			p.hashes = optionText(o) != "false"
		case "merges":
			p.merges = optionText(o) != "false"
		case "sort1", "sort2", "ltcmp", "gtcmp": // of times before operator families
			p.merges = true
		default:
			x.tell("WARNING", sqlerr.SyntaxError, "operator attribute \"%s\" not recognized", o.Name)
		}
	}
	return p
}

// createOperator is CREATE OPERATOR.
func (x *exec) createOperator(s *ast.CreateOperator) error {
	schema, name, err := x.target(&s.Name, false)
	if err != nil {
		return err
	}
	p := x.operatorOptions(s.Options)
	o := &catalog.OwnOperator{Common: catalog.Common{Schema: schema, Name: name}, Merges: p.merges, Hashes: p.hashes}
	var in []types.T
	for _, side := range []struct {
		opt *ast.Option
		to  *types.T
	}{{p.left, &o.Left}, {p.right, &o.Right}} {
		if side.opt == nil {
			continue
		}
		n := typeOf(side.opt)
		if n.SetOf {
			return invalidFunction("SETOF type not allowed for operator argument")
		}
		if *side.to, err = x.functionType(n); err != nil {
			return withoutPosition(err)
		}
		if err := x.mayUseType(*side.to); err != nil {
			return err
		}
		in = append(in, *side.to)
	}
	switch {
	case p.function == nil:
		return invalidFunction("operator function must be specified")
	case len(in) == 0:
		return invalidFunction("operator argument types must be specified")
	case p.right == nil:
		return invalidFunction("operator right argument type must be specified").WithDetail("Postfix operators are not supported.")
	}
	pr, err := x.exactFunction(typeOf(p.function).Name, in)
	if err != nil {
		return err
	}
	if pr.SQL != nil {
		if err := x.snap().CheckPriv(x.User, pr.SQL, catalog.PrivExecute); err != nil {
			return err
		}
	}
	o.Function, o.Result = pr.OID, types.Of(pr.Ret)
	if t, ok := x.snap().T(pr.Ret, -1); ok {
		o.Result = t
	}
	if err := x.mayUseType(o.Result); err != nil {
		return err
	}
	if o.Restrict, err = x.estimator(p.restrict, types.OInternal, types.OOid, types.OInternal, types.OInt4); err != nil {
		return err
	}
	if o.Join, err = x.estimator(p.join, types.OInternal, types.OOid, types.OInternal, types.OInt2, types.OInternal); err != nil {
		return err
	}
	if err := p.allowed(o); err != nil {
		return err
	}
	old := x.snap().OwnOperator(x.db(), schema, name, o.Left.OID, o.Right.OID)
	switch {
	case old != nil && old.Function != 0:
		return sqlerr.New(sqlerr.DuplicateFunction, "operator %s already exists", fullName(&s.Name))
	case old != nil: // a shell, which keeps what it is for
		o.Common, o.Commutator, o.Negator = old.Common, old.Commutator, old.Negator
	}
	made, err := x.Change.PutOperator(o)
	if err != nil {
		return err
	}
	return x.partners(made, &p)
}

// allowed refuses options that an operator of its sides and result cannot have.
func (p *operatorParts) allowed(o *catalog.OwnOperator) error {
	if o.Left.OID == 0 {
		switch {
		case p.commutator != nil:
			return invalidFunction("only binary operators can have commutators")
		case o.Join != 0:
			return invalidFunction("only binary operators can have join selectivity")
		case o.Merges:
			return invalidFunction("only binary operators can merge join")
		case o.Hashes:
			return invalidFunction("only binary operators can hash")
		}
	}
	if o.Result.OID == types.OBool {
		return nil
	}
	switch {
	case p.negator != nil && operatorOption(p.negator).Last() == o.Name:
		return invalidFunction("operator cannot be its own negator")
	case p.negator != nil:
		return invalidFunction("only boolean operators can have negators")
	case o.Restrict != 0:
		return invalidFunction("only boolean operators can have restriction selectivity")
	case o.Join != 0:
		return invalidFunction("only boolean operators can have join selectivity")
	case o.Merges:
		return invalidFunction("only boolean operators can merge join")
	case o.Hashes:
		return invalidFunction("only boolean operators can hash")
	}
	return nil
}

// partners finds or makes the commutator and the negator, and tells those that have
// none of the operator.
func (x *exec) partners(o *catalog.OwnOperator, p *operatorParts) error {
	n := *o
	if p.commutator != nil {
		oid, err := x.partner(o, p.commutator, o.Right, o.Left, func(q *catalog.OwnOperator) *types.OID { return &q.Commutator })
		if err != nil {
			return err
		}
		n.Commutator = oid
	}
	if p.negator != nil {
		oid, err := x.partner(o, p.negator, o.Left, o.Right, func(q *catalog.OwnOperator) *types.OID { return &q.Negator })
		if err != nil {
			return err
		}
		if oid == o.OID {
			return invalidFunction("operator cannot be its own negator")
		}
		n.Negator = oid
	}
	_, err := x.Change.PutOperator(&n)
	return err
}

func (x *exec) partner(o *catalog.OwnOperator, opt *ast.Option, left, right types.T, back func(*catalog.OwnOperator) *types.OID) (types.OID, error) {
	n := operatorOption(opt)
	schema, name := n.Schema(), n.Last()
	paths := []string{schema}
	if schema == "" {
		paths = append([]string{o.Schema}, x.Planner().SearchPath...)
	}
	if schema == "" || schema == catalog.SchemaPgCatalog {
		for _, b := range catalog.OperatorsByName(name) {
			if b.Left == left.OID && b.Right == right.OID {
				return b.OID, nil
			}
		}
	}
	for _, s := range paths {
		if q := x.snap().OwnOperator(x.db(), s, name, left.OID, right.OID); q != nil {
			if *back(q) == 0 && q.OID != o.OID {
				c := *q
				*back(&c) = o.OID
				_, err := x.Change.PutOperator(&c)
				return q.OID, err
			}
			return q.OID, nil
		}
	}
	if schema == "" {
		schema = o.Schema
	}
	shell := &catalog.OwnOperator{Common: catalog.Common{Schema: schema, Name: name}, Left: left, Right: right}
	*back(shell) = o.OID
	made, err := x.Change.PutOperator(shell)
	if err != nil {
		return 0, err
	}
	return made.OID, nil
}

// operatorOption is the operator that an option names.
func operatorOption(o *ast.Option) ast.Name {
	if c, ok := o.X.(*ast.ColumnRef); ok {
		return ast.Name{Off: c.Off, Parts: c.Parts}
	}
	return ast.Name{Off: o.Off, Parts: []string{optionText(o)}}
}

// estimator finds the function that an option names, 0 for NONE or no option.
func (x *exec) estimator(o *ast.Option, args ...types.OID) (types.OID, error) {
	if o == nil || strings.EqualFold(optionText(o), "none") {
		return 0, nil
	}
	var in []types.T
	for _, a := range args {
		in = append(in, types.Of(a))
	}
	pr, err := x.exactFunction(typeOf(o).Name, in)
	if err != nil {
		return 0, err
	}
	if pr.Ret != types.OFloat8 {
		return 0, invalidFunction("%s estimator function %s must return type double precision",
			map[bool]string{true: "restriction", false: "join"}[o.Name == "restrict"], fullName(&typeOf(o).Name))
	}
	return pr.OID, nil
}

// exactFunction finds the function of a name and of exactly these arguments.
func (x *exec) exactFunction(n ast.Name, in []types.T) (*catalog.Proc, error) {
	var oids []types.OID
	for _, t := range in {
		oids = append(oids, t.OID)
	}
	pr := planner.ExactRoutine(x.Planner(), n.Schema(), n.Last(), oids)
	if pr == nil {
		return nil, sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", fullName(&n), x.typeNames(oids))
	}
	return pr, nil
}

// sides resolves the types of an operator's sides, 0 for NONE.
func (x *exec) sides(args []ast.TypeName) (list [2]types.OID, shown [2]string, err error) {
	for k := range args {
		if args[k].Name.Parts == nil {
			shown[k] = "NONE"
			continue
		}
		t, err := x.functionType(&args[k])
		if err != nil {
			return list, shown, err
		}
		list[k], shown[k] = t.OID, x.typeName(t)
	}
	return list, shown, nil
}

// findOwn looks an operator up along the path; built tells that a built-in one has
// the name and the sides.
func (x *exec) findOwn(n *ast.Name, list [2]types.OID) (own *catalog.OwnOperator, built bool) {
	if sc := n.Schema(); sc == "" || sc == catalog.SchemaPgCatalog {
		for _, o := range catalog.OperatorsByName(n.Last()) {
			if o.Left == list[0] && o.Right == list[1] {
				return nil, true
			}
		}
	}
	paths := x.Planner().SearchPath
	if sc := n.Schema(); sc != "" {
		paths = []string{sc}
	}
	for _, s := range paths {
		if o := x.snap().OwnOperator(x.db(), s, n.Last(), list[0], list[1]); o != nil {
			return o, false
		}
	}
	return nil, false
}

func noOperator(n *ast.Name, list [2]types.OID, shown [2]string) error {
	if list[1] == 0 {
		return sqlerr.New(sqlerr.SyntaxError, "postfix operators are not supported")
	}
	text := fullName(n) + " " + shown[1]
	if shown[0] != "NONE" {
		text = shown[0] + " " + text
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", text)
}

// ownOperator is the operator that a statement names, which the current role must
// own.
func (x *exec) ownOperator(n *ast.Name, args []ast.TypeName) (*catalog.OwnOperator, error) {
	list, shown, err := x.sides(args)
	if err != nil {
		return nil, err
	}
	o, built := x.findOwn(n, list)
	switch {
	case built:
		return nil, sqlerr.Unsupported(n.Pos(), "changing the built-in operator %s", n.Last())
	case o == nil:
		return nil, noOperator(n, list, shown)
	case !x.snap().Owns(x.User, o):
		return nil, denied("must be owner of operator %s", fullName(n))
	}
	return o, nil
}

// absentSide sends the notice of DROP … IF EXISTS when a type is not there.
func (x *exec) absentSide(s *ast.Drop, args []ast.TypeName) bool {
	var named []ast.TypeName
	for _, a := range args {
		if a.Name.Parts != nil {
			named = append(named, a)
		}
	}
	t := x.absentType(named)
	if t == nil || !s.IfExists {
		return false
	}
	if sc := t.Name.Schema(); sc != "" && x.snap().Schema(x.db(), sc) == nil {
		x.notice(sqlerr.SuccessfulCompletion, "schema \"%s\" does not exist, skipping", sc)
		return true
	}
	x.notice(sqlerr.SuccessfulCompletion, "type \"%s\" does not exist, skipping", fullName(&t.Name))
	return true
}

// dropOperators is DROP OPERATOR.
func (x *exec) dropOperators(s *ast.Drop) error {
	var oids []types.OID
	for i := range s.Names {
		n := &s.Names[i]
		if x.absentSchema(s, n) || x.absentSide(s, s.Args[i]) {
			continue
		}
		list, shown, err := x.sides(s.Args[i])
		if err != nil {
			return err
		}
		o, built := x.findOwn(n, list)
		switch {
		case built:
			return requiredBySystem("operator " + n.Last() + "(" + shown[0] + "," + shown[1] + ")")
		case o == nil && s.IfExists:
			x.notice(sqlerr.SuccessfulCompletion, "operator %s does not exist, skipping", fullName(n))
			continue
		case o == nil:
			return noOperator(n, list, shown)
		case !x.snap().Owns(x.User, o):
			return denied("must be owner of operator %s", fullName(n))
		}
		oids = append(oids, o.OID)
	}
	if len(oids) == 0 {
		return nil
	}
	return x.Change.DropOperators(s.Cascade, oids...)
}

// absentSchema sends the notice of DROP … IF EXISTS when a name's schema is not
// there.
func (x *exec) absentSchema(s *ast.Drop, n *ast.Name) bool {
	sc := n.Schema()
	if sc == "" || !s.IfExists || x.snap().Schema(x.db(), sc) != nil {
		return false
	}
	x.notice(sqlerr.SuccessfulCompletion, "schema \"%s\" does not exist, skipping", sc)
	return true
}

// alterOperator is ALTER OPERATOR.
func (x *exec) alterOperator(s *ast.AlterObject) error {
	o, err := x.ownOperator(&s.Name, s.Args)
	if err == nil {
		err = x.mayMove(s, o.Schema)
	}
	if err != nil {
		return err
	}
	switch s.Action {
	case "OWNER":
		return x.Change.SetOwner(o.OID, x.roleName(s.NewName))
	case "SET SCHEMA":
		if x.snap().Schema(x.db(), s.NewName) == nil {
			return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", s.NewName)
		}
		if other := x.snap().OwnOperator(x.db(), s.NewName, o.Name, o.Left.OID, o.Right.OID); other != nil && other.OID != o.OID {
			return sqlerr.New(sqlerr.DuplicateFunction, "operator %s already exists in schema \"%s\"", o.Name, s.NewName)
		}
		return x.Change.SetSchema(o.OID, s.NewName)
	}
	n := *o
	for i := range s.Options {
		opt := &s.Options[i]
		switch opt.Name {
		case "restrict":
			n.Restrict, err = x.estimator(opt, types.OInternal, types.OOid, types.OInternal, types.OInt4)
		case "join":
			n.Join, err = x.estimator(opt, types.OInternal, types.OOid, types.OInternal, types.OInt2, types.OInternal)
		case "leftarg", "rightarg", "function", "procedure", "commutator", "negator", "hashes", "merges":
			err = sqlerr.New(sqlerr.SyntaxError, "operator attribute \"%s\" cannot be changed", opt.Name)
		default:
			err = sqlerr.New(sqlerr.SyntaxError, "operator attribute \"%s\" not recognized", opt.Name)
		}
		if err != nil {
			return err
		}
	}
	if err := (&operatorParts{}).allowed(&n); err != nil {
		return err
	}
	_, err = x.Change.PutOperator(&n)
	return err
}
