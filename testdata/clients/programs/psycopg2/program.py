"""Types, cursors, COPY, notices, notifications, errors and transactions with psycopg2."""
import datetime
import decimal
import io
import os
import uuid

import psycopg2
import psycopg2.extensions as ext
import psycopg2.extras as extras
import psycopg2.sql as sql

print("# psycopg2", psycopg2.__version__.split()[0])
extras.register_uuid()
conn = psycopg2.connect("")
cur = conn.cursor()


def attempt(what, *args):
    """Run a statement within a savepoint and print its rows or its error."""
    cur.execute("SAVEPOINT attempt")
    try:
        cur.execute(what, *args)
        print(cur.statusmessage, [(d[0], d[1] if d[1] < 16384 else "user") for d in cur.description or ()], cur.fetchall() if cur.description else "")
        cur.execute("RELEASE attempt")
    except psycopg2.Error as e:
        d = e.diag
        print(type(e).__name__, e.pgcode, d.severity, d.message_primary, "|", d.message_detail, "|", d.message_hint, "|", d.statement_position,
              d.schema_name, d.table_name, d.column_name, d.datatype_name, d.constraint_name, d.context)
        cur.execute("ROLLBACK TO attempt")


values = [None, True, 42, 2**40, 1.5, float("inf"), decimal.Decimal("12345678901234567890.123"), "naïve 'quote' \\ %", b"\x00\xff'",
          datetime.date(2024, 2, 29), datetime.time(12, 34, 56, 789), datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
          datetime.datetime(2024, 2, 29, 1, 2, 3, tzinfo=datetime.timezone.utc), datetime.timedelta(days=-3, seconds=5, microseconds=7),
          uuid.UUID(int=12345), [1, 2, None], ["a", None, 'q"x', "{,}"], [[1, 2], [3, 4]], extras.Json({"a": [1, None, "x"]}),
          extras.NumericRange(1, 10), extras.DateRange(datetime.date(2020, 1, 1), None, "(]"), (1, "x", None)]
for v in values:
    cur.execute("SAVEPOINT v")
    try:
        cur.execute("SELECT %s, pg_typeof(%s)::text", (v, v))
        r = cur.fetchone()
        print(repr(bytes(r[0]) if isinstance(r[0], memoryview) else r[0]), r[1], cur.description[0].type_code)
    except psycopg2.Error as e:
        print(e.pgcode, e)
        cur.execute("ROLLBACK TO v")

cur.execute("""CREATE TABLE kinds (id serial PRIMARY KEY, s varchar(10) NOT NULL UNIQUE, n numeric(8,2) CHECK (n > 0), d date, j jsonb, a text[],
    r int4range, parent int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED)""")
for i in range(5):
    attempt("INSERT INTO kinds (s, n, j, a, r) VALUES (%s, %s, %s, %s, %s) RETURNING id, j->'k', a[2]",
            ("row%d" % i, i + 1, extras.Json({"k": i}), ["a", str(i)], extras.NumericRange(i, i + 2)))
attempt("INSERT INTO kinds (s) VALUES ('row1')")
attempt("INSERT INTO kinds (s) VALUES (NULL)")
attempt("INSERT INTO kinds (s, n) VALUES ('neg', -1)")
attempt("INSERT INTO kinds (s) VALUES ('longer than ten')")
attempt("INSERT INTO kinds (s, n) VALUES ('big', 1e7)")
attempt("SELECT * FROM nowhere")
attempt("SELECT nothing FROM kinds")
attempt("SELECT 1/0")
attempt("SELECT 'x'::int")
attempt("SELEC 1")
attempt("SELECT f(1)")
attempt("UPDATE kinds SET parent = id WHERE id = 1")
attempt("SET CONSTRAINTS ALL IMMEDIATE")
attempt("UPDATE kinds SET parent = 99 WHERE id = 3")
attempt("UPDATE kinds SET parent = 1 WHERE id > 1 RETURNING id")
attempt("DELETE FROM kinds WHERE id = 5")
attempt("SELECT json_agg(kinds ORDER BY id) FROM kinds")
attempt("SELECT kinds FROM kinds WHERE id = 2")
attempt("SELECT array_agg(r ORDER BY id), range_agg(r) FROM kinds")
attempt("LOCK TABLE kinds IN SHARE ROW EXCLUSIVE MODE")
attempt("SELECT 1 AS a; SELECT 2 AS b, 3 AS c")
attempt("/* nothing */ ;")
conn.commit()

# COPY both ways.
cur.copy_expert("COPY kinds (s, n) FROM STDIN CSV HEADER", io.StringIO("s,n\ncsv1,1.25\n\"c,2\",\n"))
buf = io.StringIO()
cur.copy_expert("COPY (SELECT id, s, n, d, j, a, r FROM kinds ORDER BY id) TO STDOUT", buf)
print(buf.getvalue())
cur.copy_from(io.StringIO("x\t1\ny\t\\N\n"), "kinds", columns=("s", "n"))
buf = io.BytesIO()
cur.copy_expert("COPY (SELECT id, s FROM kinds ORDER BY id) TO STDOUT (FORMAT binary)", buf)
print(buf.getvalue().hex())
conn.rollback()
try:
    cur.copy_expert("COPY kinds (s, n) FROM STDIN", io.StringIO("ok\t1\nbad\tnumber\n"))
except psycopg2.Error as e:
    print(e.pgcode, e)
conn.rollback()

# Named cursors.
named = conn.cursor("scroller", scrollable=True)
named.execute("SELECT g, g * g FROM generate_series(1, 10) g")
print(named.fetchmany(3), named.fetchone())
named.scroll(-2)
print(named.fetchone())
named.scroll(9, mode="absolute")
print(named.fetchall())
try:
    named.scroll(-20)
except psycopg2.Error as e:
    print(type(e).__name__, e)
named.close()
hold = conn.cursor("holder", withhold=True)
hold.itersize = 2
hold.execute("SELECT s FROM kinds ORDER BY id")
conn.commit()
print([r[0] for r in hold])
hold.close()

# Batches and templates.
extras.execute_values(cur, "INSERT INTO kinds (s, n) VALUES %s ON CONFLICT (s) DO UPDATE SET n = excluded.n", [("row%d" % i, i + 10) for i in range(3, 8)])
print(cur.statusmessage)
print(extras.execute_values(cur, "UPDATE kinds SET n = v.n FROM (VALUES %s) AS v (s, n) WHERE kinds.s = v.s RETURNING kinds.s, kinds.n",
                            [("row3", 5), ("row4", 6)], template="(%s, %s::numeric)", fetch=True))
extras.execute_batch(cur, "UPDATE kinds SET n = %s WHERE s = %s", [(1, "row0"), (2, "row1")], page_size=10)
cur.execute(sql.SQL("SELECT {} FROM {} WHERE {} = ANY(%s) ORDER BY id").format(
    sql.SQL(", ").join(map(sql.Identifier, ["id", "s"])), sql.Identifier("public", "kinds"), sql.Identifier("n")), ([decimal.Decimal(1), decimal.Decimal(2)],))
print(cur.fetchall())
with conn.cursor(cursor_factory=extras.RealDictCursor) as c:
    c.execute("SELECT * FROM kinds ORDER BY id LIMIT 2")
    print([dict(r) for r in c])
with conn.cursor(cursor_factory=extras.NamedTupleCursor) as c:
    c.execute('SELECT id, s AS "a b", n AS "1x" FROM kinds ORDER BY id LIMIT 1')
    print(c.fetchone())
conn.commit()

# Composites, enums, hstore-like lookups.
cur.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text, m mood[])")
extras.register_composite("pair", conn)
cur.execute("SELECT (1, 'x', '{ok,sad}')::pair, ARRAY[(2, NULL, NULL)::pair], 'ok'::mood, ARRAY['ok'::mood]")
print(cur.fetchone())
cur.execute("SELECT oid > 16383, typname, typtype FROM pg_type WHERE typname IN ('mood', 'pair', 'kinds') ORDER BY typname")
print(cur.fetchall())
conn.commit()

# Sessions, isolation, notices, notifications.
conn.set_session(isolation_level="SERIALIZABLE", readonly=True, deferrable=True)
attempt("SHOW transaction_isolation")
attempt("SHOW transaction_deferrable")
attempt("CREATE TABLE no (a int)")
conn.rollback()
conn.set_session(isolation_level="DEFAULT", readonly=False, deferrable=False, autocommit=True)
cur.execute("DROP TABLE IF EXISTS nothing_there; CREATE TABLE IF NOT EXISTS kinds (a int)")
print(conn.notices)
cur.execute("LISTEN chan; NOTIFY chan, 'hello'; SELECT pg_notify('chan', 'two')")
conn.poll()
print([(n.channel, n.payload, n.pid == conn.info.backend_pid) for n in conn.notifies])
print(conn.encoding, conn.server_version // 10000, conn.get_parameter_status("DateStyle"), conn.info.transaction_status, conn.info.parameter_status("TimeZone"))
for enc in ("LATIN1", "SQL_ASCII", "WIN1252", "UTF8"):
    conn.set_client_encoding(enc)
    try:
        cur.execute("SELECT 'caf\u00e9', %s", ("\u00e9",))
        print(enc, cur.fetchone())
    except (psycopg2.Error, UnicodeError) as e:
        print(enc, type(e).__name__, e)
for style in ("German", "SQL, DMY", "Postgres", "ISO, MDY"):
    cur.execute("SET datestyle TO '%s'; SELECT '2024-02-28'::date::text, '2024-02-28 01:02:03+00'::timestamptz::text" % style)
    print(cur.fetchone())

# Two phases.
conn.autocommit = False
try:
    conn.tpc_begin(conn.xid(1, "gtrid", "bqual"))
    cur.execute("INSERT INTO kinds (s) VALUES ('tpc')")
    conn.tpc_prepare()
    print("prepared", len(conn.tpc_recover()))
    conn.tpc_rollback()
except psycopg2.Error as e:
    print(e.pgcode)
conn.close()

# Cancelling, from another thread's point of view: the timeout of the server.
with psycopg2.connect("", options="-c statement_timeout=50 -c search_path=pg_catalog", application_name="my app") as c2:
    with c2.cursor() as q:
        q.execute("SHOW search_path")
        print(q.fetchone())
        q.execute("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()")
        print(q.fetchone())
        try:
            q.execute("SELECT pg_sleep(30)")
        except psycopg2.Error as e:
            print(type(e).__name__, e.pgcode, e)
for dsn in ("dbname=absent", "user=absent", "options='-c nonsense=1'", "options='-c work_mem=abc'", "client_encoding=nope"):
    try:
        psycopg2.connect(dsn).close()
        print("connected", dsn)
    except psycopg2.OperationalError as e:
        print(str(e).split("failed: ")[-1].replace(os.environ["PGPORT"], "PORT").strip())
