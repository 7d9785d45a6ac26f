"""What pgcli asks the server in order to complete names."""
import os

from pgcli.pgexecute import PGExecute

e = PGExecute(os.environ["PGDATABASE"], os.environ["PGUSER"], "", os.environ["PGHOST"], os.environ["PGPORT"], None)
print(e.search_path(), [s for s in e.schemata() if s != "pg_toast"], [c for c in e.table_columns() if c[0] in ('public', 's')], [c for c in e.view_columns() if c[0] == 'public'], [t for t in e.tables() if t[0] == 'public'], [t for t in e.views() if t[0] == 'public'])
print(list(e.foreignkeys()), [(f.func_name, f.arg_types, f.return_type) for f in e.functions() if f.schema_name == "public"], len(list(e.datatypes())) > 10, "client" in str(e.databases()))
print([t for t in e.datatypes() if t[0] == "public"])
for title, rows, cols, status, sql, ok, special in e.run("SELECT * FROM kite; UPDATE kite SET span = 1 WHERE id = 2; SELECT count(*) FROM long_kites"):
    print(title, rows and list(rows), cols, status, ok)
print(e.view_definition("long_kites"))
for command in ("\\dt", "\\d kite", "\\dv", "\\d+ long_kites", "\\df", "\\dT", "\\dn s", "\\di", "\\ds", "\\du postgres", "\\dD", "\\dp", "SELECT 1/0", "SELECT absent FROM kite"):
    try:
        for title, rows, cols, status, sql, ok, special in e.run(command):
            print(command, title, rows and list(rows), cols, status)
    except Exception as x:
        print(command, type(x).__name__, x)
