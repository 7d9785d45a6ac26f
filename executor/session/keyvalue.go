package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/catalog/types/vec"
	"kvsqld/executor/expr"
	"kvsqld/parser"
	"kvsqld/wire"
)

// The key-value face of tables: kv_get, kv_set, kv_add, kv_replace, kv_delete
// and kv_scan over a table whose primary key is one text column. Each is an SQL
// statement on the row of that key, kept with its plan, and run inside of the
// calling statement; so constraints, indexes, locks and snapshots are those of
// SQL.
//
// The value is a text: of the only other column, or, where there are several or
// none, of a JSON object of all columns but the key. Generated columns are no
// part of it, so that what kv_get returns can be given to kv_set.

// keyFace is a table as keys and values.
type keyFace struct {
	snap  *catalog.Snapshot
	table string // the bare name
	name  string // quoted, with its schema
	key   string // quoted
	keyOf string // the bare name
	// cols are the columns of the value, generated ones excepted.
	cols      []catalog.Column
	generated []string
	single    bool // the value is the text of the only column
	stmts     map[string]*plannedStmt
}

// maxKeyFaces bounds the tables that a session remembers, maxKeyStmts the
// statements of each.
const (
	maxKeyFaces = 64
	maxKeyStmts = 64
)

// keyFace returns the key-value face of a table.
func (s *Session) keyFace(oid types.OID) (*keyFace, error) {
	snap := s.snapshot()
	if f := s.keyFaces[oid]; f != nil && f.snap == snap {
		return f, nil
	}
	rel := snap.RelationByOID(s.db, oid)
	if rel == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "relation with OID %d does not exist", oid)
	}
	schema, name := rel.RelName()
	t, ok := rel.(*catalog.Table)
	if !ok {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a table", name)
	}
	if t.Key != nil || snap.HasChildren(t.OID) {
		return nil, sqlerr.Unsupported(-1, "key-value functions on table \"%s\", which has partitions or children", name)
	}
	if len(t.PK) != 1 {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "table \"%s\" has no primary key of one column", name).
			WithHint("Key-value functions need a table such as (key text PRIMARY KEY, value text).")
	}
	key := &t.Columns[t.PK[0]]
	if o := snap.BaseType(key.Type).OID; o != types.OText && o != types.OVarchar {
		return nil, sqlerr.New(sqlerr.DatatypeMismatch, "key column \"%s\" of table \"%s\" is of type %s, not text", key.Name, name,
			snap.FormatType(key.Type, s.db, nil))
	}
	f := &keyFace{snap: snap, table: name, name: catalog.QuoteIdent(schema) + "." + catalog.QuoteIdent(name),
		key: catalog.QuoteIdent(key.Name), keyOf: key.Name}
	for i := range t.Columns {
		if c := &t.Columns[i]; i != t.PK[0] && !c.Dropped {
			if c.Generated {
				f.generated = append(f.generated, c.Name)
			} else {
				f.cols = append(f.cols, *c)
			}
		}
	}
	f.single = len(f.cols) == 1
	if old := s.keyFaces[oid]; old != nil && old.name == f.name && old.key == f.key && sameColumns(old.cols, f.cols) && slices.Equal(old.generated, f.generated) {
		// Something else in the catalog changed: the statements stay, and plan
		// themselves anew.
		f.stmts = old.stmts
	} else {
		f.stmts = make(map[string]*plannedStmt)
	}
	if s.keyFaces == nil || len(s.keyFaces) >= maxKeyFaces {
		s.keyFaces = make(map[types.OID]*keyFace)
	}
	s.keyFaces[oid] = f
	return f, nil
}

func sameColumns(a, b []catalog.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Type != b[i].Type || a[i].Identity != b[i].Identity {
			return false
		}
	}
	return true
}

// KeyValue implements expr.SessionInfo.
func (s sessionInfo) KeyValue(ctx context.Context, src string, args []types.Datum) (types.Datum, error) {
	fn := strings.TrimPrefix(src, "kvsqld_")
	write := fn != "kv_get"
	if write {
		if err := s.writable(fn + "()"); err != nil {
			return types.Datum{}, err
		}
	}
	if args[0].Null {
		return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "%s: the table is null", fn)
	}
	if args[1].Null {
		return types.Datum{}, sqlerr.New(sqlerr.NullValueNotAllowed, "%s: the key is null", fn)
	}
	f, err := s.keyFace(types.OID(args[0].I))
	if err != nil {
		return types.Datum{}, err
	}
	key := string(args[1].B)
	switch fn {
	case "kv_get":
		rows, err := s.keyRows(ctx, f, "SELECT "+f.value()+" FROM "+f.name+" AS t WHERE "+f.key+" = $1", nullable(key))
		if err != nil || len(rows) == 0 {
			return types.Null(types.TText), err
		}
		return rows[0][0], nil
	case "kv_delete":
		n, err := s.keyRun(ctx, f, "DELETE FROM "+f.name+" WHERE "+f.key+" = $1", discard{}, nullable(key))
		return types.Bool(n > 0), err
	}
	names, values, err := f.parse(args[2])
	if err != nil {
		return types.Datum{}, err
	}
	params := append([]*string{&key}, values...)
	if fn == "kv_replace" {
		n, err := s.keyRun(ctx, f, f.update(names), discard{}, params...)
		return types.Bool(n > 0), err
	}
	n, err := s.keyRun(ctx, f, f.insert(names, fn == "kv_set"), discard{}, params...)
	if fn == "kv_set" {
		return types.Bytes(types.TVoid, nil), err
	}
	return types.Bool(n > 0), err
}

// KeyScan implements expr.SessionInfo.
func (s sessionInfo) KeyScan(ctx context.Context, table types.OID, from, before string) ([][]types.Datum, error) {
	f, err := s.keyFace(table)
	if err != nil {
		return nil, err
	}
	sql := "SELECT " + f.key + "::text, " + f.value() + " FROM " + f.name + " AS t WHERE " + f.key + " >= $1"
	params := []*string{&from}
	if before != "" {
		sql += " AND " + f.key + " < $2"
		params = append(params, &before)
	}
	return s.keyRows(ctx, f, sql+" ORDER BY "+f.key+" LIMIT "+strconv.Itoa(expr.KeyScanChunk), params...)
}

// value is the SQL expression of the value of table t.
func (f *keyFace) value() string {
	if f.single {
		return catalog.QuoteIdent(f.cols[0].Name) + "::text"
	}
	v := "to_jsonb(t)"
	for _, n := range append([]string{f.keyOf}, f.generated...) {
		v += " - " + catalog.QuoteLiteral(n)
	}
	return "(" + v + ")::text"
}

// insert stores a row: with overwrite in the place of an existing one, whose
// attributes that are not named get their defaults; else only if there is none.
func (f *keyFace) insert(names []string, overwrite bool) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + f.name + " (" + f.key)
	for _, n := range names {
		b.WriteString(", " + catalog.QuoteIdent(n))
	}
	b.WriteString(") VALUES ($1")
	for i := range names {
		b.WriteString(", $" + strconv.Itoa(i+2))
	}
	b.WriteString(") ON CONFLICT (" + f.key + ") DO ")
	if !overwrite || len(f.settable()) == 0 {
		b.WriteString("NOTHING")
		return b.String()
	}
	b.WriteString("UPDATE SET ")
	for i, n := range f.settable() {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(catalog.QuoteIdent(n) + " = EXCLUDED." + catalog.QuoteIdent(n))
	}
	return b.String()
}

// settable are the columns that an existing row's value consists of: identity
// columns that nobody may set keep theirs.
func (f *keyFace) settable() []string {
	var out []string
	for i := range f.cols {
		if f.cols[i].Identity != 'a' {
			out = append(out, f.cols[i].Name)
		}
	}
	return out
}

// update overwrites the row of a key.
func (f *keyFace) update(names []string) string {
	at := make(map[string]int, len(names))
	for i, n := range names {
		at[n] = i + 2
	}
	var sets []string
	for _, n := range f.settable() {
		if i := at[n]; i > 0 {
			sets = append(sets, catalog.QuoteIdent(n)+" = $"+strconv.Itoa(i))
		} else {
			sets = append(sets, catalog.QuoteIdent(n)+" = DEFAULT")
		}
	}
	for _, n := range names {
		if f.column(n).Identity == 'a' {
			// Refused in SQL's own words.
			sets = append(sets, catalog.QuoteIdent(n)+" = $"+strconv.Itoa(at[n]))
		}
	}
	if len(sets) == 0 {
		sets = append(sets, f.key+" = $1")
	}
	return "UPDATE " + f.name + " SET " + strings.Join(sets, ", ") + " WHERE " + f.key + " = $1"
}

func (f *keyFace) column(name string) *catalog.Column {
	for i := range f.cols {
		if f.cols[i].Name == name {
			return &f.cols[i]
		}
	}
	return nil
}

// parse takes a value apart: the columns that it sets, in the table's order, and
// their texts (nil is NULL).
func (f *keyFace) parse(v types.Datum) (names []string, values []*string, err error) {
	if f.single {
		if v.Null {
			return []string{f.cols[0].Name}, []*string{nil}, nil
		}
		return []string{f.cols[0].Name}, []*string{nullable(string(v.B))}, nil
	}
	bad := func(detail string) error {
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "the value for table \"%s\" must be a JSON object of its columns", f.table).WithDetail("%s", detail)
	}
	if v.Null {
		return nil, nil, bad("It is null.")
	}
	given, err := jsonMembers(v.B)
	if err != nil {
		return nil, nil, bad("It " + err.Error() + ".")
	}
	for i := range f.cols {
		raw, ok := given[f.cols[i].Name]
		if !ok {
			continue
		}
		delete(given, f.cols[i].Name)
		text, err := jsonColumn(raw, f.cols[i].Type)
		if err != nil {
			return nil, nil, bad("Column \"" + f.cols[i].Name + "\" " + err.Error() + ".")
		}
		names, values = append(names, f.cols[i].Name), append(values, text)
	}
	for n := range given {
		return nil, nil, sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", n, f.table).
			WithDetail("The value of a key consists of the columns beside the key that are not generated.")
	}
	return names, values, nil
}

// jsonMembers returns the members of a JSON object; each name is there once.
func jsonMembers(text []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	tok, err := dec.Token()
	if err != nil {
		return nil, errors.New("is not JSON")
	}
	if tok != json.Delim('{') {
		return nil, errors.New("is not an object")
	}
	out := make(map[string]json.RawMessage)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, errors.New("is not JSON")
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, errors.New("is not JSON")
		}
		n := name.(string) // what a decoder gives for a member's name
		if _, twice := out[n]; twice {
			return nil, errors.New("has \"" + n + "\" twice")
		}
		out[n] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, errors.New("is not JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("is not the only text: something follows the object")
	}
	return out, nil
}

// jsonColumn is the text form of a JSON value for a column: JSON itself for json
// columns, the content of strings and the elements of arrays for others.
func jsonColumn(raw json.RawMessage, t types.T) (*string, error) {
	raw = bytes.TrimSpace(raw)
	isJSON := t.OID == types.OJSON || t.OID == types.OJSONB
	switch {
	case isJSON:
		return nullable(string(raw)), nil
	case raw[0] == 'n':
		return nil, nil
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		return &text, nil
	case raw[0] == '[' && t.Kind() == types.KArray:
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		var b strings.Builder
		b.WriteByte('{')
		for i, it := range items {
			if i > 0 {
				b.WriteByte(',')
			}
			if it = bytes.TrimSpace(it); it[0] == '[' {
				inner, err := jsonColumn(it, t)
				if err != nil {
					return nil, err
				}
				b.WriteString(*inner)
				continue
			}
			text, err := jsonColumn(it, types.TText)
			switch {
			case err != nil:
				return nil, err
			case text == nil:
				b.WriteString("NULL")
			default:
				b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(*text) + `"`)
			}
		}
		b.WriteByte('}')
		return nullable(b.String()), nil
	case raw[0] == '[' || raw[0] == '{':
		return nil, errors.New("has a type that no list or object is a value of")
	}
	return nullable(string(raw)), nil
}

func nullable(s string) *string { return &s }

// discard is a sink for statements without rows.
type discard struct{}

func (discard) begin([]wire.Column, *types.FmtOpts) {}
func (discard) batch(*vec.Batch) error              { return nil }

// keyRows runs a query and returns its rows.
func (s *Session) keyRows(ctx context.Context, f *keyFace, sql string, params ...*string) ([][]types.Datum, error) {
	var buf rowBuffer
	if _, err := s.keyRun(ctx, f, sql, &buf, params...); err != nil {
		return nil, err
	}
	var out [][]types.Datum
	for _, b := range buf.batches {
		for r := range b.N {
			row := make([]types.Datum, len(b.Cols))
			for i, c := range b.Cols {
				row[i] = c.Get(r)
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// keyRun runs a statement inside of the calling one and returns the number of
// its rows. Parameters are texts of the types that the statement gives them.
// executor.ErrRetry goes to the calling statement, which begins again.
func (s *Session) keyRun(ctx context.Context, f *keyFace, sql string, out sink, params ...*string) (int64, error) {
	p := f.stmts[sql]
	if p == nil {
		st, err := parser.ParseOne(sql)
		if err != nil {
			return 0, err
		}
		if len(f.stmts) >= maxKeyStmts {
			clear(f.stmts)
		}
		p = &plannedStmt{stmt: st.Stmt, inOrder: true}
		f.stmts[sql] = p
	}
	if err := s.prepare(ctx, p, nil); err != nil {
		return 0, withoutPosition(err)
	}
	vals := make([]types.Datum, len(params))
	for i, text := range params {
		if text == nil {
			vals[i] = types.Null(p.q.Params[i])
			continue
		}
		d, err := s.readText(p.q.Params[i], *text)
		if err != nil {
			return 0, err
		}
		vals[i] = d
	}
	n, err := s.drain(ctx, p, vals, out, nil)
	if err != nil {
		return 0, withoutPosition(err)
	}
	if !p.q.ReadOnly {
		s.count(p.q, n)
	}
	return n, nil
}
