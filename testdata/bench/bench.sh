#!/usr/bin/env bash
# Runs the same work on kvsqld and on PostgreSQL 15, in turns, on one disk, and
# prints the best run of each, how many times faster (above 1) or slower kvsqld
# is, and the ratio that is aimed at.
#
#   ROUNDS=3 SECONDS_EACH=2 ROWS=1000000 testdata/bench/bench.sh
#   LONG=1 testdata/bench/bench.sh             longer runs, more rounds
#   ONLY='join|TPC-B' testdata/bench/bench.sh  measures whose names match
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=${KVSQLD:-bin/kvsqld} HERE=testdata/bench
if [ "${LONG:-}" = 1 ]; then ROUNDS=${ROUNDS:-5} EACH=${SECONDS_EACH:-10}; fi
ROUNDS=${ROUNDS:-3} EACH=${EACH:-${SECONDS_EACH:-2}} ROWS=${ROWS:-1000000} ONLY=${ONLY:-.}
PG=/usr/lib/postgresql/15/bin
[ -x "$PG/initdb" ] || PG=$(dirname "$(command -v initdb)")
TMP=$(mktemp -d "${BENCH_DIR:-$PWD}/bench.XXXXXX")
OURS=${OURS:-15433} THEIRS=${THEIRS:-15434}
as_postgres() { if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
KPID=
cleanup() {
  [ -z "$KPID" ] || kill "$KPID" 2>/dev/null || true
  as_postgres "$PG/pg_ctl" -D "$TMP/pg" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$TMP"
}
trap cleanup EXIT

chmod 711 "$TMP"; mkdir "$TMP/pg" "$TMP/kv"
# The way to the folder must be open to the user that PostgreSQL runs as.
if [ "$(id -u)" = 0 ]; then chown postgres "$TMP/pg"; fi
as_postgres "$PG/initdb" -D "$TMP/pg" -U postgres -A trust --no-locale -E UTF8 >/dev/null

now() { date +%s.%N; }
since() { echo "$(now) - $1" | bc -l; }
connect() { psql -qX -h 127.0.0.1 -p "$1" -U postgres -v ON_ERROR_STOP=1 "${@:2}" postgres; }
query() { connect "$1" -At -c "$2"; }
await() { until query "$1" 'SELECT 1' >/dev/null 2>&1; do :; done; }
# Each process of PostgreSQL is the leader of a session, and Linux shares the
# processors out among sessions first. So kvsqld gets a session of its own, too.
start_kvsqld() {
  # shellcheck disable=SC2086
  setsid "$BIN" serve --data "$TMP/kv" --listen 127.0.0.1:$OURS --log-level warn ${KVSQLD_FLAGS:-} & KPID=$!
  await $OURS
}
start_postgres() {
  as_postgres "$PG/pg_ctl" -D "$TMP/pg" -l "$TMP/pg/log" -W start \
    -o "-p $THEIRS -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=1GB" >/dev/null
  await $THEIRS
}
stop_kvsqld() { kill "$KPID"; wait "$KPID" || true; KPID=; }
stop_postgres() { as_postgres "$PG/pg_ctl" -D "$TMP/pg" -m fast -w stop >/dev/null; }
both() { for p in $OURS $THEIRS; do "$1" $p "${@:2}"; done; }

best() { if [ "$1" = more ]; then sort -gr; else sort -g; fi | head -1; }
# report NAME TARGET UNIT BETTER(more|less) FILE_OF_OURS FILE_OF_THEIRS
report() {
  local a b; a=$(best "$4" <"$5"); b=$(best "$4" <"$6")
  awk -v n="$1" -v t="$2" -v u="$3" -v w="$4" -v a="$a" -v b="$b" \
    'BEGIN {printf "%-50s %11.2f %11.2f %-4s %6.2f %7s\n", n, a, b, u, w=="more" ? a/b : b/a, t}'
}
# turns NAME TARGET UNIT BETTER COMMAND…: the command gets the port and prints a number
turns() {
  local name=$1 target=$2 unit=$3 better=$4; shift 4
  [[ $name =~ $ONLY ]] || return 0
  : >"$TMP/a"; : >"$TMP/b"
  for _ in $(seq "$ROUNDS"); do "$@" $OURS >>"$TMP/a"; "$@" $THEIRS >>"$TMP/b"; done
  report "$name" "$target" "$unit" "$better" "$TMP/a" "$TMP/b"
}
# tps MODE CLIENTS SCRIPT PORT
tps() {
  { pgbench -n -h 127.0.0.1 -p "$4" -U postgres -M "$1" -c "$2" -j 2 -T "$EACH" -D rows="$ROWS" -D scale=10 -f "$HERE/$3" postgres \
    2>"$TMP/errors" || { echo "pgbench failed on port $4:" >&2; cat "$TMP/errors" >&2; exit 1; }; } | awk '/^tps/ {print $3}'
}
# elapsed PORT [psql's arguments]: the milliseconds of the last statement
elapsed() { connect "$1" -c '\timing on' "${@:2}" 2>&1 >"$TMP/out" | head -3 >&2; awk '/^Time:/ {t = $2} END {print t}' "$TMP/out"; }
# sql QUERY PORT
sql() { elapsed "$2" -At -c "$1"; }
# undone STATEMENT PORT: a statement that changes rows, rolled back after its time was taken
undone() {
  connect "$2" -At -c BEGIN -c '\timing on' -c "$1" -c '\timing off' -c ROLLBACK | awk '/^Time:/ {print $2}'
}
# file NAME PORT: a whole script
file() { local t; t=$(now); connect "$2" -f "$TMP/$1" >/dev/null; echo "1000*($(since "$t"))" | bc -l; }
measure() { turns "$1" "$2" ms less sql "$3"; }
copy() {
  query "$1" 'TRUNCATE bench'
  elapsed "$1" -c '\copy bench FROM '"$TMP/rows.csv"' CSV'
}

awk -v n="$ROWS" 'BEGIN {srand(7); for (i = 1; i <= n; i++)
  printf "%d,%d,%d,%d,%d\n", i, rand()*1000, rand()*1000, rand()*1000000, rand()*100}' >"$TMP/rows.csv"
awk 'BEGIN {printf "INSERT INTO log (a, b) VALUES "; for (i = 1; i <= 10000; i++)
  printf "%s(%d, '\''a note of row %d'\'')", (i > 1 ? "," : ""), i, i; print ";"}' >"$TMP/values.sql"
awk 'BEGIN {print "BEGIN;"; for (i = 1; i <= 20000; i++)
  printf "INSERT INTO log (a, b) VALUES (%d, '\''a note of row %d'\'');\n", i, i; print "COMMIT;"}' >"$TMP/singles.sql"
awk 'BEGIN {for (i = 1; i <= 20; i++)
  print "INSERT INTO entry (a, b) SELECT g * 7919 % 10007, '\''a note'\'' FROM generate_series(1, 10000) AS g;"}' >"$TMP/entries.sql"

printf '%-50s %11s %11s %-4s %6s %7s\n' '' kvsqld PostgreSQL unit ratio target
start_kvsqld; start_postgres
for p in $OURS $THEIRS; do connect $p -f $HERE/schema.sql; done
if [[ COPY =~ $ONLY ]]; then
  turns "COPY $ROWS rows, one secondary index" 1.0 ms less copy
  awk '/^VmHWM/ {printf "%-50s %11.0f %11s MB\n", "memory peak so far", $2/1024, ""}' "/proc/$KPID/status"
else
  both copy >/dev/null
fi
both query 'ANALYZE'
both query 'VACUUM bench'

for mode in prepared simple; do
  turns "point SELECT, $mode, 1 client" 1.0 tps more tps $mode 1 point.sql
  turns "point SELECT, $mode, 8 clients" 1.5 tps more tps $mode 8 point.sql
done
turns 'INSERT of one row, durable, 1 client' '' tps more tps simple 1 insert.sql
turns 'INSERT of one row, durable, 8 clients' 1.0 tps more tps simple 8 insert.sql
turns 'INSERT of one row, durable, 32 clients' '' tps more tps simple 32 insert.sql
turns 'TPC-B-like, prepared, 1 client' 1.0 tps more tps prepared 1 tpcb.sql
turns 'TPC-B-like, prepared, 8 clients' 1.3 tps more tps prepared 8 tpcb.sql
turns 'TPC-B-like, prepared, 32 clients' 2.0 tps more tps prepared 32 tpcb.sql
turns 'script of one INSERT with 10,000 rows' 1.0 ms less file values.sql
turns 'script of 20,000 INSERTs in a transaction' '' ms less file singles.sql
turns 'script of 20 INSERTs of 10,000 rows with an index' '' ms less file entries.sql
turns 'UPDATE of 100,000 rows' '' ms less undone 'UPDATE bench SET a = a + 1 WHERE id <= 100000'
turns 'UPDATE of 100,000 rows and their index' '' ms less undone 'UPDATE bench SET c = c + 1 WHERE id <= 100000'
turns 'DELETE of 100,000 rows' '' ms less undone 'DELETE FROM bench WHERE id <= 100000'
turns 'INSERT … SELECT of 100,000 rows' '' ms less undone 'INSERT INTO bench SELECT id + 10000000, a, b, c, d FROM bench WHERE id <= 100000'
turns 'CREATE INDEX' '' ms less undone 'CREATE INDEX bench_b ON bench (b)'
measure 'aggregate over a range, 100 groups' 2.0 \
  "SELECT d, sum(a * b), count(*) FROM bench WHERE c BETWEEN 100000 AND 900000 GROUP BY d"
measure 'aggregate, 600,000 groups' '' 'SELECT count(*) FROM (SELECT c, sum(a) FROM bench GROUP BY c OFFSET 0) AS g'
measure 'hash join, one match in ten' 2.0 \
  "SELECT count(*), max(dim.name) FROM bench JOIN dim ON dim.d = bench.c"
measure 'hash join, every row matches' 2.0 \
  "SELECT count(*), sum(x.a + y.b) FROM bench x JOIN bench y ON x.id = y.id"
measure 'count(*)' '' 'SELECT count(*) FROM bench'
measure 'ORDER BY an integer, all rows' 1.0 'SELECT id, b, c FROM bench ORDER BY b, c OFFSET 999999'
measure 'ORDER BY a text, all rows' 1.0 "SELECT id FROM bench ORDER BY a::text || 'x' || c OFFSET 999999"
measure 'ORDER BY LIMIT 10' '' 'SELECT * FROM bench ORDER BY a, b, c LIMIT 10'
measure 'DISTINCT' 1.0 'SELECT count(*) FROM (SELECT DISTINCT a, b FROM bench) AS t'
measure 'window: row_number by partition' 1.0 \
  'SELECT max(n) FROM (SELECT row_number() OVER (PARTITION BY a ORDER BY c) AS n FROM bench) AS t'
measure 'window: running sum' 1.0 'SELECT max(n) FROM (SELECT sum(b) OVER (PARTITION BY d ORDER BY id) AS n FROM bench) AS t'
measure 'UNION' 1.0 'SELECT count(*) FROM (SELECT a, b FROM bench UNION SELECT b, a FROM bench) AS t'
measure 'INTERSECT' 1.0 'SELECT count(*) FROM (SELECT c FROM bench INTERSECT SELECT id FROM bench) AS t'
measure 'EXCEPT' 1.0 'SELECT count(*) FROM (SELECT id FROM bench EXCEPT SELECT c FROM bench) AS t'
measure 'LIKE over 100,000 rows' '' "SELECT count(*) FROM dim WHERE name LIKE '%77%'"
measure 'string functions over 1,000,000 rows' '' \
  "SELECT max(length(upper(substr('row ' || c, 2, 4)) || lpad(a::text, 5, '0'))) FROM bench"
measure 'LIMIT 10 without an order' '' 'SELECT * FROM bench WHERE b > 500 LIMIT 10'
measure 'all rows to the client' '' 'SELECT * FROM bench'
turns 'lookup join of 100 rows, prepared, 1 client' '' tps more tps prepared 1 lookup.sql
turns 'box over a two-column index, prepared, 1 client' '' tps more tps prepared 1 box.sql

restart() {
  local t
  if [ "$1" = $OURS ]; then stop_kvsqld; t=$(now); start_kvsqld; else stop_postgres; t=$(now); start_postgres; fi
  echo "1000*($(since "$t"))" | bc -l >"$TMP/restart"
}
: >"$TMP/a"; : >"$TMP/b"
for _ in $(seq "$ROUNDS"); do
  restart $OURS; cat "$TMP/restart" >>"$TMP/a"; restart $THEIRS; cat "$TMP/restart" >>"$TMP/b"
done
report 'start to the first answer' '' ms less "$TMP/a" "$TMP/b"
awk '/^VmRSS/ {print $2/1024}' "/proc/$KPID/status" >"$TMP/a"
awk '/^Pss:/ {n += $2} END {print n/1024}' $(pgrep -P "$(head -1 "$TMP/pg/postmaster.pid")" | sed 's#.*#/proc/&/smaps_rollup#') \
  "/proc/$(head -1 "$TMP/pg/postmaster.pid")/smaps_rollup" >"$TMP/b"
report 'memory after start' '<50 MB' MB less "$TMP/a" "$TMP/b"
