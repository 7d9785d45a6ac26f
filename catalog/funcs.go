package catalog

import "kvsqld/catalog/types"

// Proc is a function's signature: a row of pg_proc. Src names the
// implementation (PostgreSQL's prosrc, such as int4pl), and is the key of the
// executor's registry.
type Proc struct {
	OID        types.OID
	Name       string
	Src        string
	Kind       byte // f function, a aggregate, w window, p procedure
	Strict     bool // NULL in, NULL out
	RetSet     bool
	Volatile   byte // i immutable, s stable, v volatile
	Args       []types.OID
	Ret        types.OID
	Variadic   types.OID   // element type of a VARIADIC last argument, or 0
	Defaults   []string    // SQL texts of the defaults of the last arguments
	AllArgs    []types.OID // with OUT arguments; nil when all are IN
	ArgModes   []byte
	ArgNames   []string
	Cost, Rows float64
	Lang       types.OID
	Parallel   byte
	LeakProof  bool
	Support    types.OID
	Schema     string    // "" is pg_catalog
	Hidden     string    // of an extension: the name by which only its functions call it
	Modifies   bool      // writes rows, as an INSERT would
	SQL        *Function // of a user-defined function that has a body in SQL or is an aggregate; nil otherwise
	Own        *Function // of any user-defined function
}

// Operator is a row of pg_operator.
type Operator struct {
	OID               types.OID
	Name              string
	Kind              byte // b infix, l prefix
	Left, Right       types.OID
	Result            types.OID
	Com, Negate       types.OID
	Proc              types.OID
	CanMerge, CanHash bool
	Rest, Join        types.OID
	Own               *OwnOperator // of a user-defined operator; nil otherwise
	Extension         string       // that it comes with, "" for none
}

// Cast is a row of pg_cast: Context i implicit, a assignment, e explicit only;
// Method f function, b binary-coercible, i through text.
type Cast struct {
	OID             types.OID
	Source, Target  types.OID
	Func            types.OID
	Context, Method byte
}

// Aggregate is a row of pg_aggregate.
type Aggregate struct {
	Proc             types.OID
	Kind             byte // n normal, o ordered-set, h hypothetical-set
	Direct           int
	TransFn, FinalFn types.OID
	CombineFn        types.OID
	SortOp           types.OID
	TransType        types.OID
	InitVal          string
	HasInit          bool

	// What the catalog tells and nothing here is computed with: functions of partial
	// and moving aggregation, and what final functions may do to the state.
	Serial, Deserial                    types.OID
	MovingTrans, MovingInv, MovingFinal types.OID
	MovingType                          types.OID
	FinalExtra, MovingFinalExtra        bool
	FinalModify, MovingFinalModify      byte
	TransSpace, MovingSpace             int
	MovingInit                          string
	HasMovingInit                       bool
}

// In is the schema that the function is in.
func (p *Proc) In() string {
	if p.Schema != "" {
		return p.Schema
	}
	return SchemaPgCatalog
}
