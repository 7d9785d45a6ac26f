package session

import (
	"slices"
	"strings"

	"kvsqld/catalog"
	"kvsqld/catalog/pgcatalog"
	"kvsqld/catalog/sqlerr"
	"kvsqld/catalog/types"
	"kvsqld/parser"
)

// CatalogRows implements expr.SessionInfo.
func (s sessionInfo) CatalogRows(src string, args []types.Datum, cols []types.T) ([][]types.Datum, error) {
	switch src {
	case "pg_get_keywords":
		return keywordRows(), nil
	case "show_all_settings":
		return s.relationRows("pg_settings", len(cols))
	case "pg_lock_status":
		return s.relationRows("pg_locks", len(cols))
	case "pg_cursor":
		return s.relationRows("pg_cursors", len(cols))
	case "pg_prepared_statement":
		return s.relationRows("pg_prepared_statements", len(cols))
	case "pg_timezone_names":
		return s.relationRows("pg_timezone_names", len(cols))
	case "pg_timezone_abbrevs":
		return s.relationRows("pg_timezone_abbrevs", len(cols))
	case "pg_available_extensions", "pg_available_extension_versions":
		rows, err := s.relationRows(src, len(cols)+1)
		for i := range rows { // the views have what is installed behind the version
			rows[i] = slices.Delete(rows[i], 2, 3)
		}
		return rows, err
	case "pg_listening_channels":
		var out [][]types.Datum
		for _, c := range s.srv.notify.channels(s.Session) {
			out = append(out, []types.Datum{types.Text(c)})
		}
		return out, nil
	case "pg_partition_ancestors", "pg_partition_tree":
		return s.partitionRows(src, args[0]), nil
	case "pg_tablespace_databases":
		var out [][]types.Datum
		for _, d := range s.snapshot().Databases() {
			out = append(out, []types.Datum{types.Int(types.TOid, int64(d.OID))})
		}
		return out, nil
	case "aclexplode":
		return s.aclRows(args[0])
	case "pg_prepared_xact", "pg_config", "pg_get_catalog_foreign_keys", "pg_hba_file_rules", "pg_ident_file_mappings",
		"pg_get_publication_tables", "pg_get_replication_slots", "pg_show_replication_origin_status", "show_all_file_settings",
		"pg_get_shmem_allocations", "pg_get_backend_memory_contexts":
		return nil, nil // nothing of the kind exists
	}
	if rows, ok, err := s.directoryRows(src, args); ok {
		return rows, err
	}
	if rows, ok, err := s.statRows(src, args, len(cols)); ok {
		return rows, err
	}
	if strings.HasPrefix(src, "pg_event_trigger_") {
		return nil, eventTriggerOnly(src)
	}
	return nil, sqlerr.Unsupported(-1, "function %s", src)
}

// tablespaceExists refuses the OID of no tablespace.
func (s sessionInfo) tablespaceExists(oid types.Datum) error {
	if oid.Null {
		return nil
	}
	for _, t := range s.snapshot().Tablespaces() {
		if t.OID == types.OID(oid.I) {
			return nil
		}
	}
	return sqlerr.New(sqlerr.UndefinedObject, "tablespace with OID %d does not exist", uint32(oid.I))
}

// partitionRows are the rows of pg_partition_tree and pg_partition_ancestors.
func (s sessionInfo) partitionRows(src string, rel types.Datum) [][]types.Datum {
	if rel.Null {
		return nil
	}
	class := func(o types.OID) types.Datum {
		if o == 0 {
			return types.Null(types.TRegclass)
		}
		return types.Int(types.TRegclass, int64(o))
	}
	var out [][]types.Datum
	if src == "pg_partition_ancestors" {
		for _, o := range s.pgEnv().PartitionAncestors(types.OID(rel.I)) {
			out = append(out, []types.Datum{class(o)})
		}
		return out
	}
	for _, r := range s.pgEnv().PartitionTree(types.OID(rel.I)) {
		out = append(out, []types.Datum{class(r.Rel), class(r.Parent), types.Bool(r.Leaf), types.Int(types.TInt4, int64(r.Level))})
	}
	return out
}

// relationRows returns the rows of a system relation with its first n columns.
func (s sessionInfo) relationRows(name string, n int) ([][]types.Datum, error) {
	r := pgcatalog.Find(catalog.SchemaPgCatalog, name)
	if r == nil {
		return nil, nil
	}
	var out [][]types.Datum
	env := s.pgEnv()
	env.Locks = s.lockRows // without that of the view
	err := r.Rows(env, nil, func(row []types.Datum) bool {
		c := append([]types.Datum(nil), row...)
		for len(c) < n {
			c = append(c, types.Datum{Null: true})
		}
		out = append(out, c[:n])
		return true
	})
	return out, err
}

var keywordCategories = map[byte]string{
	'U': "unreserved", 'C': "unreserved (cannot be function or type name)", 'T': "reserved (can be function or type name)", 'R': "reserved",
}

func keywordRows() [][]types.Datum {
	var out [][]types.Datum
	parser.Keywords(func(word string, cat parser.Category, bare bool) {
		desc := "requires AS"
		if bare {
			desc = "can be bare label"
		}
		code := cat.Code()
		out = append(out, []types.Datum{types.Text(word), types.Bytes(types.Of(types.OChar), []byte{code}), types.Bool(bare),
			types.Text(keywordCategories[byte(strings.ToUpper(string(code))[0])]), types.Text(desc)})
	})
	return out
}
