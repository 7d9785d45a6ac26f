package ddl

import (
	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser/ast"
)

func badCast(message string) error {
	return sqlerr.New(sqlerr.InvalidObjectDefinition, "%s", message)
}

// createCast is CREATE CAST.
func (x *exec) createCast(s *ast.CreateCast) error {
	from, err := x.functionType(&s.Source)
	if err != nil {
		return err
	}
	to, err := x.functionType(&s.Target)
	if err != nil {
		return err
	}
	for _, side := range []struct {
		t    types.T
		what string
	}{{from, "source"}, {to, "target"}} {
		if x.pseudo(side.t) {
			return sqlerr.New(sqlerr.WrongObjectType, "%s data type %s is a pseudo-type", side.what, x.typeName(side.t))
		}
	}
	if !x.ownsType(from) && !x.ownsType(to) {
		return denied("must be owner of type %s or type %s", x.typeName(from), x.typeName(to))
	}
	for _, t := range []types.T{from, to} {
		if err := x.mayUseType(t); err != nil {
			return err
		}
	}
	switch {
	case x.snap().TypeInfo(from.OID).Type == 'd':
		x.tell("WARNING", sqlerr.WrongObjectType, "cast will be ignored because the source data type is a domain")
	case x.snap().TypeInfo(to.OID).Type == 'd':
		x.tell("WARNING", sqlerr.WrongObjectType, "cast will be ignored because the target data type is a domain")
	}
	k := &catalog.OwnCast{Source: from, Target: to, Context: 'e', Method: 'i'}
	switch s.Context {
	case "IMPLICIT":
		k.Context = 'i'
	case "ASSIGNMENT":
		k.Context = 'a'
	}
	nargs := 0
	switch s.Method {
	case "WITH FUNCTION":
		k.Method = 'f'
		if k.Function, nargs, err = x.castFunction(s, from, to); err != nil {
			return err
		}
	case "WITHOUT FUNCTION":
		k.Method = 'b'
		if err := x.sameBytes(s, from, to); err != nil {
			return err
		}
	}
	if from.OID == to.OID && nargs < 2 {
		return badCast("source data type and target data type are the same")
	}
	if catalog.FindCast(from.OID, to.OID) != nil || x.snap().OwnCast(x.db(), from.OID, to.OID) != nil {
		return sqlerr.New(sqlerr.DuplicateObject, "cast from type %s to type %s already exists", x.typeName(from), x.typeName(to))
	}
	if from.OID == to.OID {
		return sqlerr.Unsupported(s.Pos(), "a cast that applies the modifier of a user-defined type")
	}
	return x.Change.CreateCast(k)
}

// ownsType reports whether the current role owns a type; built-in types are the
// superusers'.
func (x *exec) ownsType(t types.T) bool {
	if u := x.snap().TypeByOID(t.OID); u != nil {
		return x.snap().Owns(x.User, u)
	}
	r := x.snap().Role(x.User)
	return r != nil && r.Super
}

// coercible reports whether values of a type are values of another one as they are.
func (x *exec) coercible(from, to types.OID) bool {
	if from == to || to == types.OAny {
		return true
	}
	if base := x.snap().BaseType(types.Of(from)).OID; base != from {
		return x.coercible(base, to)
	}
	c := catalog.FindCast(from, to)
	if own := x.snap().OwnCast(x.db(), from, to); own != nil {
		c = own.Row()
	}
	return c != nil && c.Method == 'b' && c.Context == 'i'
}

// castFunction finds the function of a cast and checks its signature.
func (x *exec) castFunction(s *ast.CreateCast, from, to types.T) (types.OID, int, error) {
	var pr *catalog.Proc
	f, err := x.function("FUNCTION", &s.Func, s.Args)
	if err == nil {
		pr = &catalog.Proc{OID: f.OID, Kind: 'f', RetSet: f.RetSet, Ret: f.Ret.OID}
		for _, t := range f.Inputs() {
			pr.Args = append(pr.Args, t.OID)
		}
		switch {
		case f.Agg != nil:
			pr.Kind = 'a'
		case f.Procedure:
			pr.Kind = 'p'
		}
	} else if pr = x.builtinRoutine("FUNCTION", &s.Func, s.Args); pr == nil {
		return 0, 0, err
	}
	n := len(pr.Args)
	switch {
	case n < 1 || n > 3:
		return 0, 0, badCast("cast function must take one to three arguments")
	case !x.coercible(from.OID, pr.Args[0]):
		return 0, 0, badCast("argument of cast function must match or be binary-coercible from source data type")
	case n > 1 && pr.Args[1] != types.OInt4:
		return 0, 0, badCast("second argument of cast function must be type integer")
	case n > 2 && pr.Args[2] != types.OBool:
		return 0, 0, badCast("third argument of cast function must be type boolean")
	case !x.coercible(pr.Ret, to.OID):
		return 0, 0, badCast("return data type of cast function must match or be binary-coercible to target data type")
	case pr.Kind != 'f':
		return 0, 0, badCast("cast function must be a normal function")
	case pr.RetSet:
		return 0, 0, badCast("cast function must not return a set")
	}
	return pr.OID, n, nil
}

// sameBytes checks WITHOUT FUNCTION: values of the two types must be kept alike.
func (x *exec) sameBytes(s *ast.CreateCast, from, to types.T) error {
	if r := x.snap().Role(x.User); r == nil || !r.Super {
		return denied("must be superuser to create a cast WITHOUT FUNCTION")
	}
	a, b := x.snap().TypeInfo(from.OID), x.snap().TypeInfo(to.OID)
	is := func(ok func(*types.Info) bool) bool { return ok(a) || ok(b) }
	switch {
	case a.Len != b.Len || a.ByVal != b.ByVal || a.Align != b.Align:
		return badCast("source and target data types are not physically compatible")
	case is(func(in *types.Info) bool { return in.Kind == types.KRecord }):
		return badCast("composite data types are not binary-compatible")
	case is(func(in *types.Info) bool { return in.Kind == types.KEnum }):
		return badCast("enum data types are not binary-compatible")
	case is(func(in *types.Info) bool { return in.Kind == types.KArray }):
		return badCast("array data types are not binary-compatible")
	case is(func(in *types.Info) bool { return in.Type == 'd' }):
		return badCast("domain data types must not be marked binary-compatible")
	}
	// PostgreSQL takes any two types of one size; here their values must be held in
	// the same way as well.
	text := func(k types.Kind) bool { return k == types.KText || k == types.KBytea || k == types.KJSON }
	if a.Kind.Rep() != b.Kind.Rep() || a.Kind.Rep() == types.RepBytes && a.Kind != b.Kind && !(text(a.Kind) && text(b.Kind)) ||
		from.OID == types.OBpchar || to.OID == types.OBpchar || a.Subtype != 0 {
		return sqlerr.Unsupported(s.Pos(), "a cast WITHOUT FUNCTION from %s to %s", x.typeName(from), x.typeName(to))
	}
	return nil
}

// ownCast is the user-defined cast that a statement names, one of whose types the
// current role must own.
func (x *exec) ownCast(args []ast.TypeName) (*catalog.OwnCast, error) {
	list, shown, err := x.sides(args)
	if err != nil {
		return nil, err
	}
	k := x.snap().OwnCast(x.db(), list[0], list[1])
	switch {
	case k == nil && catalog.FindCast(list[0], list[1]) != nil:
		return nil, sqlerr.Unsupported(args[0].Pos(), "changing a built-in cast")
	case k == nil:
		return nil, sqlerr.New(sqlerr.UndefinedObject, "cast from type %s to type %s does not exist", shown[0], shown[1])
	case !x.ownsType(k.Source) && !x.ownsType(k.Target):
		return nil, denied("must be owner of type %s or type %s", shown[0], shown[1])
	}
	return k, nil
}

func (x *exec) dropCast(s *ast.Drop, i int) error {
	args := s.Args[i]
	if x.absentSide(s, args) {
		return nil
	}
	list, shown, err := x.sides(args)
	if err != nil {
		return err
	}
	switch k := x.snap().OwnCast(x.db(), list[0], list[1]); {
	case catalog.FindCast(list[0], list[1]) != nil:
		return requiredBySystem("cast from " + shown[0] + " to " + shown[1])
	case k == nil && s.IfExists:
		x.notice(sqlerr.SuccessfulCompletion, "cast from type %s to type %s does not exist, skipping", writtenType(&args[0]), writtenType(&args[1]))
		return nil
	case k == nil:
		return sqlerr.New(sqlerr.UndefinedObject, "cast from type %s to type %s does not exist", shown[0], shown[1])
	case !x.ownsType(k.Source) && !x.ownsType(k.Target):
		return denied("must be owner of type %s or type %s", shown[0], shown[1])
	default:
		return x.Change.DropCast(k.OID, s.Cascade)
	}
}
