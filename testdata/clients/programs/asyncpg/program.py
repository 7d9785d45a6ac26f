"""Binary types, cursors, COPY, listeners, pools, cancellation and introspection with asyncpg."""
import asyncio
import datetime
import io
import ipaddress
import uuid
from decimal import Decimal

import asyncpg

print("# asyncpg", asyncpg.__version__)


def told(e):
    print(type(e).__name__, getattr(e, "sqlstate", None), str(e).split("\n")[0], "|", getattr(e, "detail", None), getattr(e, "constraint_name", None), getattr(e, "position", None))


VALUES = [("bool", True), ("int2", -7), ("int4", 2**31 - 1), ("int8", -2**63), ("float4", 1.5), ("float8", 1e300), ("numeric", Decimal("123.4500")), ("numeric", Decimal("NaN")),
          ("text", "é\n"), ("varchar(4)", "abcd"), ("char(4)", "ab"), ("name", "nm"), ('"char"', b"x"), ("bytea", b"\0\1"), ("date", datetime.date(2024, 2, 29)), ("date", datetime.date.max),
          ("time", datetime.time(1, 2, 3, 4)), ("timetz", datetime.time(1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30)))),
          ("timestamp", datetime.datetime(1999, 12, 31, 23, 59, 59, 999999)), ("timestamptz", datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)), ("interval", datetime.timedelta(days=33, seconds=1)),
          ("uuid", uuid.UUID(int=99)), ("json", '{"a": 1}'), ("jsonb", '{"b": [1, 2]}'), ("inet", ipaddress.ip_interface("10.0.0.1/24")), ("cidr", ipaddress.ip_network("10.0.0.0/24")),
          ("bit(5)", asyncpg.BitString("10101")), ("varbit", asyncpg.BitString("111")), ("point", asyncpg.Point(1, 2)), ("oid", 2**32 - 1), ("regclass", None), ("int4range", asyncpg.Range(1, 9)),
          ("numrange", asyncpg.Range(None, Decimal("1.5"), upper_inc=True)), ("tstzrange", asyncpg.Range(empty=True)), ("int4multirange", [asyncpg.Range(1, 2), asyncpg.Range(5, 7)]),
          ("int4[]", [[1, 2], [3, None]]), ("text[]", ["a", None, ""]), ("numeric[]", [Decimal("1.1")]), ("timestamptz[]", [datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)]),
          ("mood", "ok"), ("mood[]", ["sad", None]), ("pos", 5), ("pos[]", [1, 2]), ("pair", (1, "x", ["ok"])), ("pair[]", [(1, None, None), None]), ("macaddr", None), ("xid", 5), ("void", None)]


async def main():
    conn = await asyncpg.connect()
    print(conn.get_server_version()[0], conn.get_settings().client_encoding, conn.get_settings().TimeZone, conn.get_settings().standard_conforming_strings)
    await conn.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE pair AS (a int, b text, m mood[]); CREATE DOMAIN pos AS int CHECK (value > 0)")
    for typ, v in VALUES:
        try:
            st = await conn.prepare(f"SELECT $1::{typ} AS v, $1::{typ}::text AS t")
            r = await st.fetchrow(v)
            print(typ, repr(r["v"]), repr(r["t"]), [(a.name, a.type.name, a.type.kind, a.type.schema) for a in st.get_attributes()], [(p.name, p.kind) for p in st.get_parameters()])
        except Exception as e:
            print(typ, end=" ")
            told(e)

    await conn.execute("CREATE TABLE t (id serial PRIMARY KEY, n int UNIQUE, s text, p pair, m mood DEFAULT 'ok', at timestamptz, tags text[])")
    await conn.executemany("INSERT INTO t (n, s, p, tags) VALUES ($1, $2, $3, $4)", [(i, f"s{i}", (i, "b", ["sad"]), ["x"] * i) for i in range(10)])
    try:
        await conn.executemany("INSERT INTO t (n) VALUES ($1)", [(100,), (101,), (3,)])
    except asyncpg.PostgresError as e:
        told(e)
    print(await conn.fetchval("SELECT count(*) FROM t"), [dict(r) for r in await conn.fetch("SELECT n, s, p, m, tags FROM t WHERE n < $1 ORDER BY n", 3)])
    print([tuple(r) for r in await conn.fetch("SELECT t FROM t WHERE n = ANY($1::int[]) ORDER BY n", [1, 2])])
    async with conn.transaction():
        cur = await conn.cursor("SELECT n FROM t ORDER BY n")
        print(await cur.fetch(3), await cur.forward(2), await cur.fetchrow())
        print([r["n"] async for r in conn.cursor("SELECT n FROM t WHERE n > $1 ORDER BY n", 5, prefetch=2)])
    for kind in ("read_committed", "repeatable_read", "serializable"):
        async with conn.transaction(isolation=kind, readonly=True):
            print(await conn.fetchval("SHOW transaction_isolation"), await conn.fetchval("SHOW transaction_read_only"))
    try:
        async with conn.transaction():
            await conn.execute("UPDATE t SET s = 'gone'")
            try:
                async with conn.transaction():
                    await conn.execute("INSERT INTO t (n) VALUES (1)")
            except asyncpg.UniqueViolationError as e:
                told(e)
            print(await conn.fetchval("SELECT DISTINCT s FROM t"))
            raise ZeroDivisionError
    except ZeroDivisionError:
        print(await conn.fetchval("SELECT count(*) FROM t WHERE s = 'gone'"))

    print(await conn.copy_records_to_table("t", records=[(50, "copied", None, ["a", None])], columns=["n", "s", "at", "tags"]))
    out = io.BytesIO()
    print(await conn.copy_from_query("SELECT n, s, tags FROM t WHERE n >= $1 ORDER BY n", 8, output=out, format="csv", header=True))
    print(out.getvalue().decode())
    print(await conn.copy_to_table("t", source=io.BytesIO(b"60;x\n61;y\n"), columns=["n", "s"], delimiter=";"))
    out = io.BytesIO()
    print(await conn.copy_from_table("t", columns=["n", "s"], output=out, format="text"), len(out.getvalue()))
    try:
        await conn.copy_to_table("t", source=io.BytesIO(b"bad\n"), columns=["n", "s"])
    except asyncpg.PostgresError as e:
        told(e)

    for q, args in [("SELECT * FROM absent", ()), ("SELECT $1 + $2", (1, 2)), ("SELECT $1", ("x",)), ("SELECT $1::int", ("x",)), ("SELECT $2::int", (1, 2)), ("INSERT INTO t (n) VALUES ($1) RETURNING id > 0, m", (70,)),
                    ("SELECT 1/$1::int", (0,)), ("SELECT n FROM t LIMIT $1 OFFSET $2", (1, 2)), ("SELECT $1::pos", (-1,)), ("SELECT 'a' LIKE $1", ("%",)), ("SELECT now() - $1 > '1 day'", (datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc),)),
                    ("SELECT $1 = ANY(tags) FROM t WHERE n = 3", ("x",)), ("UPDATE t SET tags = tags || $1 WHERE n = $2", ("new", 3)), ("UPDATE t SET tags = $1 || tags WHERE n = $2", (["a"], 3)),
                    ("SELECT jsonb_build_object('a', $1::text)", ("x",)), ("SELECT (p).a, (p).m[1] FROM t WHERE n = $1", (4,)), ("SELECT 1; SELECT 2", ()), ("SELECT extract(epoch FROM $1::interval)", (datetime.timedelta(1),)),
                    ("SELECT CASE WHEN $1 THEN $2 ELSE 'no' END", (True, "yes")), ("SELECT coalesce($1, 5)", (None,)), ("SELECT $1 IN (1, 2)", (2,)), ("SELECT row($1::int, $2::text)", (1, "a")), ("SELECT array_agg(x) FROM unnest($1::int[], $2::text[]) x (a, b)", ([1], ["q"]))]:
        try:
            print(q, [tuple(r) for r in await conn.fetch(q, *args)])
        except Exception as e:
            print(q, end=" ")
            told(e)

    await conn.execute("ALTER TABLE t ADD COLUMN later int DEFAULT 3")
    st = await conn.prepare("SELECT * FROM t WHERE n = 1")
    await st.fetch()
    await conn.execute("ALTER TABLE t DROP COLUMN later")
    try:
        print(len((await st.fetch())[0]))
    except Exception as e:
        told(e)
    await conn.set_type_codec("jsonb", encoder=repr, decoder=lambda s: ("decoded", s), schema="pg_catalog")
    print(await conn.fetchval("SELECT '[1]'::jsonb"))
    await conn.set_type_codec("mood", encoder=str.lower, decoder=str.upper, schema="public", format="text")
    print(await conn.fetchval("SELECT $1::mood", "OK"))

    heard = asyncio.Queue()
    await conn.add_listener("ch", lambda c, pid, channel, payload: heard.put_nowait((channel, payload)))
    await conn.execute("NOTIFY ch, 'a'; SELECT pg_notify('ch', 'b')")
    print(await asyncio.wait_for(heard.get(), 20), await asyncio.wait_for(heard.get(), 20))
    try:
        await conn.fetch("SELECT pg_sleep(60)", timeout=0.1)
    except asyncio.TimeoutError:
        print("timed out", await conn.fetchval("SELECT 1"))
    await conn.reset()
    await conn.close()
    async with asyncpg.create_pool(min_size=2, max_size=4, server_settings={"application_name": "pool", "search_path": "public,pg_catalog"}) as pool:
        print(sum(await asyncio.gather(*(pool.fetchval("SELECT $1::int", i) for i in range(50)))), await pool.fetchval("SHOW application_name"))

asyncio.run(main())
