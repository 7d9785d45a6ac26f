package ast

type (
	// Transaction is BEGIN, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, ROLLBACK TO,
	// PREPARE TRANSACTION, COMMIT PREPARED, ROLLBACK PREPARED, SET TRANSACTION,
	// SET SESSION CHARACTERISTICS.
	Transaction struct {
		Off
		Kind  string // the words above; START TRANSACTION is BEGIN, END is COMMIT, ABORT is ROLLBACK
		Start bool   // START TRANSACTION was written: the tag differs
		Name  string // savepoint, prepared transaction
		Modes TxnModes
		Chain bool // AND CHAIN
	}
	// TxnModes are the modes that were written; nil or "" where not.
	TxnModes struct {
		Isolation  string // SERIALIZABLE, REPEATABLE READ, READ COMMITTED, READ UNCOMMITTED
		ReadOnly   *bool
		Deferrable *bool
		Snapshot   string // SET TRANSACTION SNAPSHOT
	}
	// SetVar is SET, RESET. Special forms have names of their own: SET TIME ZONE
	// is timezone, SET NAMES client_encoding, SET SCHEMA search_path, SET
	// ROLE role, SET SESSION AUTHORIZATION session_authorization.
	SetVar struct {
		Off
		Name        string // lower case; "all" with All
		All         bool   // RESET ALL
		Values      []Expr // Const, or Cast for SET TIME ZONE INTERVAL
		Default     bool   // TO DEFAULT
		Reset       bool
		Local       bool
		Session     bool
		FromCurrent bool
	}
	// Show is SHOW name ("all" for SHOW ALL).
	Show struct {
		Off
		Name string
	}
	// Discard is DISCARD ALL|PLANS|SEQUENCES|TEMP.
	Discard struct {
		Off
		What string
	}
	// Prepare is PREPARE name (types) AS stmt.
	Prepare struct {
		Off
		Name  string
		Types []TypeName
		Stmt  Stmt
	}
	// Execute is EXECUTE name (args).
	Execute struct {
		Off
		Name string
		Args []Expr
	}
	// Deallocate is DEALLOCATE name; "" for ALL.
	Deallocate struct {
		Off
		Name string
	}
	// Explain is EXPLAIN [(options)] stmt. ANALYZE and VERBOSE words are options.
	Explain struct {
		Off
		Options []Option
		Stmt    Stmt
	}
	// Copy is COPY. Exactly one of Table, Query is set. File "" is STDIN/STDOUT.
	Copy struct {
		Off
		Table   *Name
		Cols    []string
		Query   Stmt
		From    bool
		File    string
		Program bool
		Options []Option
		Where   Expr
	}
	// DeclareCursor is DECLARE name CURSOR FOR query.
	DeclareCursor struct {
		Off
		Name        string
		Binary      bool
		Scroll      *bool
		Hold        bool
		Query       *Select
		Insensitive bool
		Asensitive  bool
		BothScroll  bool // SCROLL as well as NO SCROLL, which is refused
	}
	// Fetch is FETCH or MOVE.
	Fetch struct {
		Off
		Move      bool
		Direction string // NEXT, PRIOR, FIRST, LAST, ABSOLUTE, RELATIVE, FORWARD, BACKWARD
		All       bool
		Count     int64
		Cursor    string
	}
	// CloseCursor is CLOSE name; "" for ALL.
	CloseCursor struct {
		Off
		Name string
	}
	// Listen is LISTEN, UNLISTEN ("" for *), NOTIFY.
	Listen struct {
		Off
		Kind    string // LISTEN, UNLISTEN, NOTIFY
		Channel string
		Payload string
	}
	// LockTable is LOCK TABLE.
	LockTable struct {
		Off
		Tables []TableRef
		Mode   string // "ACCESS EXCLUSIVE" by default
		NoWait bool
	}
	// Vacuum is VACUUM, ANALYZE, REINDEX, CLUSTER or CHECKPOINT.
	Vacuum struct {
		Off
		Kind    string // VACUUM, ANALYZE, REINDEX, CLUSTER, CHECKPOINT
		What    string // of REINDEX: TABLE, INDEX, SCHEMA, DATABASE, SYSTEM
		Tables  []VacuumTable
		Options []Option
	}
	// Backup is BACKUP TO STDOUT, which PostgreSQL does not have.
	Backup struct{ Off }
	// VacuumTable is a table with optional columns.
	VacuumTable struct {
		Name Name
		Cols []string
	}
	// Do is DO [LANGUAGE l] 'body'.
	Do struct {
		Off
		Language string
		Body     string
	}
	// CallProc is CALL proc(args).
	CallProc struct {
		Off
		Call *Call
	}
	// SetConstraints is SET CONSTRAINTS; Names nil for ALL.
	SetConstraints struct {
		Off
		Names    []Name
		Deferred bool
	}
)

func (*Transaction) stmt()    {}
func (*SetVar) stmt()         {}
func (*Show) stmt()           {}
func (*Discard) stmt()        {}
func (*Prepare) stmt()        {}
func (*Execute) stmt()        {}
func (*Deallocate) stmt()     {}
func (*Explain) stmt()        {}
func (*Copy) stmt()           {}
func (*DeclareCursor) stmt()  {}
func (*Fetch) stmt()          {}
func (*CloseCursor) stmt()    {}
func (*Listen) stmt()         {}
func (*LockTable) stmt()      {}
func (*Vacuum) stmt()         {}
func (*Backup) stmt()         {}
func (*Do) stmt()             {}
func (*CallProc) stmt()       {}
func (*SetConstraints) stmt() {}
