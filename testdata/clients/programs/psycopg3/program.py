"""Types in text and binary, pipelines, COPY, cursors, notifications and type lookup with psycopg 3."""
import datetime
import ipaddress
import uuid
from decimal import Decimal

import psycopg
from psycopg import sql
from psycopg.rows import dict_row, namedtuple_row
from psycopg.types import TypeInfo
from psycopg.types.composite import CompositeInfo, register_composite
from psycopg.types.enum import EnumInfo, register_enum
from psycopg.types.json import Json, Jsonb
from psycopg.types.multirange import Multirange
from psycopg.types.range import Range

print("# psycopg", psycopg.__version__)
conn = psycopg.connect("")
conn.autocommit = True


def told(e):
    d = e.diag
    print(type(e).__name__, e.sqlstate, d.message_primary, "|", d.message_detail, "|", d.message_hint, "|", d.statement_position, d.constraint_name, d.column_name)


values = [None, True, 1, 2**20, 2**40, -(2**70), 1.25, float("-inf"), Decimal("NaN"), Decimal("-0.00012"), Decimal("1e40"), "text é", b"\x00\x01", uuid.UUID(int=7),
          datetime.date(1, 1, 1), datetime.date(9999, 12, 31), datetime.time(23, 59, 59, 999999), datetime.time(1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=-3))),
          datetime.datetime(2000, 1, 1), datetime.datetime(1900, 5, 6, tzinfo=datetime.timezone.utc), datetime.timedelta(days=400, microseconds=1),
          Json({"a": [1]}), Jsonb([None, "x"]), ipaddress.ip_address("::1"), ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_interface("10.1.2.3/8"),
          [1, 2, 3], [[1.5, None]], ["x", 'y"'], [Decimal("1.1")], [datetime.date(2020, 1, 1)], [uuid.UUID(int=1)],
          Range(1, 5), Range(Decimal(1), None, "()"), Range(empty=True), Range(datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)), Multirange([Range(1, 3), Range(7, 9)])]
for binary in (False, True):
    cur = conn.cursor(binary=binary)
    for v in values:
        for fmt in ("%s", "%t", "%b"):
            try:
                cur.execute(f"SELECT {fmt} AS v, pg_typeof({fmt})::text", (v, v))
                r = cur.fetchone()
                print(binary, fmt, repr(r[0]), r[1], cur.description[0].type_code)
            except psycopg.Error as e:
                print(binary, fmt, repr(v), end=" ")
                told(e) if e.sqlstate else print(type(e).__name__, e)

conn.execute("CREATE TABLE item (id int PRIMARY KEY GENERATED ALWAYS AS IDENTITY, name text UNIQUE, price numeric(10,2), made timestamptz, tags text[], data jsonb, span tstzrange)")
cur = conn.cursor(row_factory=dict_row)
cur.executemany("INSERT INTO item (name, price, tags, data) VALUES (%s, %s, %s, %s) RETURNING id, name", [("n%d" % i, Decimal(i) / 3, ["t"] * i, Jsonb({"i": i})) for i in range(4)], returning=True)
while True:
    print(cur.fetchone())
    if not cur.nextset():
        break
for i in range(8):  # the sixth run is prepared
    print(conn.execute("SELECT name, price FROM item WHERE id = %s AND name = %s", (i, "n%d" % (i - 1))).fetchall())
print(conn.execute("SELECT statement, parameter_types FROM pg_prepared_statements WHERE statement LIKE '%%item%%' ORDER BY 1").fetchall())
conn.execute("ALTER TABLE item ADD COLUMN extra int DEFAULT 5")
for q in ("SELECT * FROM item WHERE id = %s",) * 7:
    r = conn.execute(q, (1,)).fetchone()
conn.execute("ALTER TABLE item DROP COLUMN extra")
try:
    print(len(conn.execute("SELECT * FROM item WHERE id = %s", (1,)).fetchone()))
except psycopg.Error as e:
    told(e)
conn.execute("DEALLOCATE ALL")

for statement, args in [("INSERT INTO item (name) VALUES (%s)", ("n1",)), ("SELECT %s + 1", ("x",)), ("SELECT %s::int + %s", ("1", 2)), ("SELECT 1; SELECT %s", (1,)),
                        ("INSERT INTO item (id) VALUES (%s)", (1,)), ("SELECT * FROM item LIMIT %s", (-1,)), ("SELECT %s", (object,)), ("SELECT (%s, %s) = (1, 2)", (1, 2)),
                        ("SELECT * FROM item WHERE id = ANY(%s) ORDER BY id", ([1, 2],)), ("SELECT * FROM item WHERE name = ANY(%s)", (["n1", None],)),
                        ("SELECT * FROM item WHERE made > %s - interval '1 day'", (datetime.datetime(2020, 1, 1),)), ("SELECT count(*) FROM generate_series(1, %s)", (1000,)),
                        ("SELECT %s || %s", ("a", "b")), ("SELECT concat(%s, %s)", ("a", 1)), ("SELECT jsonb_build_object(%s, %s)", ("a", 1)), ("SELECT coalesce(%s, %s)", (None, 3)),
                        ("SELECT date_trunc(%s, %s)", ("month", datetime.datetime(2020, 5, 6))), ("SELECT %s IS NULL", (None,)), ("SELECT data->%s FROM item ORDER BY id", ("i",)),
                        ("SELECT data @> %s FROM item ORDER BY id", (Jsonb({"i": 1}),)), ("SELECT tags[%s] FROM item ORDER BY id", (2,)), ("SELECT 1 WHERE %s", (True,)),
                        ("SELECT * FROM (VALUES (%s, %s), (%s, %s)) v (a, b)", (1, "x", 2, "y")), ("SELECT round(%s, 1)", (Decimal("2.55"),)), ("SELECT round(%s, 1)", (2.55,))]:
    try:
        c = conn.execute(statement, args)
        print(c.statusmessage, [(d.name, d.type_code, d.precision, d.scale, d.internal_size) for d in c.description or ()], c.fetchall() if c.description else "")
    except psycopg.Error as e:
        told(e) if e.sqlstate else print(type(e).__name__, str(e).split("\n")[0])

with conn.pipeline() as p:
    a = conn.execute("SELECT 1")
    b = conn.execute("INSERT INTO item (name) VALUES ('pipe') RETURNING id > 0")
    p.sync()
    print(a.fetchall(), b.fetchall())
try:
    with conn.pipeline() as p:
        conn.execute("INSERT INTO item (name) VALUES ('lost')")
        conn.execute("SELECT 1/0")
        conn.execute("SELECT 2")
except psycopg.Error as e:
    told(e)
print(conn.execute("SELECT count(*) FROM item WHERE name = 'lost'").fetchone(), conn.info.transaction_status.name)
with conn.transaction() as outer:
    conn.execute("INSERT INTO item (name) VALUES ('outer')")
    try:
        with conn.transaction() as inner:
            conn.execute("INSERT INTO item (name) VALUES ('inner')")
            raise psycopg.Rollback(inner)
    except psycopg.Error as e:
        told(e)
print(conn.execute("SELECT name FROM item ORDER BY id").fetchall())

with conn.cursor() as cur:
    with cur.copy("COPY item (name, price, made) FROM STDIN") as copy:
        copy.write_row(("copied\t1", Decimal("1.5"), None))
        copy.write_row(("copied\\2", None, datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)))
    with cur.copy("COPY item (name, price, tags) FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["text", "numeric", "text[]"])
        copy.write_row(("binary", Decimal("-7.77"), ["a", None]))
    print(cur.rowcount)
    with cur.copy("COPY (SELECT name, price, made, tags, data FROM item ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["text", "numeric", "timestamptz", "text[]", "jsonb"])
        for row in copy.rows():
            print(row)
    try:
        with cur.copy("COPY item (name, price) FROM STDIN") as copy:
            copy.write("a\tb\tc\n")
    except psycopg.Error as e:
        told(e)
        print(e.diag.context)
    try:
        with cur.copy("COPY item (name) FROM STDIN") as copy:
            copy.write_row(("never",))
            raise ValueError("stop")
    except (ValueError, psycopg.Error) as e:
        print(type(e).__name__)

with conn.transaction(), conn.cursor("srv", scrollable=True) as cur:
    cur.execute("SELECT g, g::text FROM generate_series(1, 20) g WHERE g %% %s = 0", (2,))
    print(cur.description[1].type_code, cur.fetchmany(3))
    cur.scroll(-2)
    print(cur.fetchone(), cur.fetchall()[-1])
conn.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'it''s'); CREATE TYPE place AS (x float8, name text, moods mood[]); CREATE DOMAIN posint AS int CHECK (value > 0)")
for name, cls in (("mood", EnumInfo), ("place", CompositeInfo), ("posint", TypeInfo), ("numeric", TypeInfo), ("absent", TypeInfo)):
    info = cls.fetch(conn, name)
    print(name, info and (info.name, info.regtype, getattr(info, "labels", None), getattr(info, "field_names", None), info.delimiter))
register_enum(EnumInfo.fetch(conn, "mood"), conn)
register_composite(CompositeInfo.fetch(conn, "place"), conn)
for binary in (False, True):
    print(conn.execute("SELECT ROW(1.5, 'a', '{ok,sad}')::place, 'ok'::mood, '{ok}'::mood[], ARRAY[ROW(NULL, '', NULL)::place], 7::posint, (1, 'x'::text, 2.5)", binary=binary).fetchone())
try:
    conn.execute("SELECT %s::posint", (-1,))
except psycopg.Error as e:
    told(e)
conn.add_notice_handler(lambda n: print("notice", n.severity, n.sqlstate, n.message_primary))
conn.execute("CREATE TABLE IF NOT EXISTS item (a int)")
conn.execute("SET client_min_messages = error; DROP TABLE IF EXISTS nope; RESET client_min_messages; DROP TABLE IF EXISTS nope")
conn.add_notify_handler(lambda n: print("notify", n.channel, n.payload))
conn.execute("LISTEN ch; NOTIFY ch, 'payload'")
conn.execute("SELECT 1")
print(sql.SQL("SELECT {}, {}").format(sql.Identifier("a", 'b"c'), sql.Literal(["x", None])).as_string(conn))
with conn.cursor(row_factory=namedtuple_row) as cur:
    print(cur.execute("SELECT 1 AS one, 'x' AS two").fetchone())
print([r for r in conn.cursor().stream("SELECT g FROM generate_series(1, 3) g")])
try:
    print(conn.tpc_recover())
    conn.autocommit = False
    conn.tpc_begin("id-1")
    conn.tpc_prepare()
except psycopg.Error as e:
    told(e)
