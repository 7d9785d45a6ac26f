#!/usr/bin/env bash
# Runs the same work on kvsqld and on PostgreSQL 15, in turns, on one disk, and
# prints the medians and how many times faster (above 1) or slower kvsqld is.
#
#   ROUNDS=3 SECONDS_EACH=5 ROWS=1000000 testdata/bench/bench.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
BIN=${KVSQLD:-bin/kvsqld} HERE=testdata/bench
ROUNDS=${ROUNDS:-3} EACH=${SECONDS_EACH:-5} ROWS=${ROWS:-1000000}
PG=/usr/lib/postgresql/15/bin
[ -x "$PG/initdb" ] || PG=$(dirname "$(command -v initdb)")
TMP=$(mktemp -d "${BENCH_DIR:-$PWD}/bench.XXXXXX")
OURS=15433 THEIRS=15434
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
query() { psql -qAtX -h 127.0.0.1 -p "$1" -U postgres postgres -v ON_ERROR_STOP=1 -c "$2"; }
await() { until query "$1" 'SELECT 1' >/dev/null 2>&1; do :; done; }
start_kvsqld() { "$BIN" serve --data "$TMP/kv" --listen 127.0.0.1:$OURS --log-level warn & KPID=$!; await $OURS; }
start_postgres() {
  as_postgres "$PG/pg_ctl" -D "$TMP/pg" -l "$TMP/pg/log" -W start \
    -o "-p $THEIRS -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=1GB" >/dev/null
  await $THEIRS
}
stop_kvsqld() { kill "$KPID"; wait "$KPID" || true; KPID=; }
stop_postgres() { as_postgres "$PG/pg_ctl" -D "$TMP/pg" -m fast -w stop >/dev/null; }

median() { sort -g | awk '{v[NR]=$1} END {print NR%2 ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2}'; }
# report NAME UNIT BETTER(more|less) FILE_OF_OURS FILE_OF_THEIRS
report() {
  local a b; a=$(median <"$4"); b=$(median <"$5")
  awk -v n="$1" -v u="$2" -v w="$3" -v a="$a" -v b="$b" \
    'BEGIN {printf "%-44s %12.3f %12.3f %-5s %6.2f\n", n, a, b, u, w=="more" ? a/b : b/a}'
}
# turns NAME UNIT BETTER COMMAND…: the command gets the port and prints a number
turns() {
  local name=$1 unit=$2 better=$3; shift 3
  : >"$TMP/a"; : >"$TMP/b"
  for _ in $(seq "$ROUNDS"); do "$@" $OURS >>"$TMP/a"; "$@" $THEIRS >>"$TMP/b"; done
  report "$name" "$unit" "$better" "$TMP/a" "$TMP/b"
}
tps() { pgbench -n -h 127.0.0.1 -p "$4" -U postgres -M "$1" -c "$2" -j 2 -T "$EACH" -D rows="$ROWS" -f "$HERE/$3" postgres 2>/dev/null |
  awk '/^tps/ {print $3}'; }
seconds() { local t; t=$(now); query "$2" "$1" >/dev/null; since "$t"; }
copy() {
  query "$1" 'TRUNCATE bench'
  local t; t=$(now)
  psql -qX -h 127.0.0.1 -p "$1" -U postgres postgres -v ON_ERROR_STOP=1 -c '\copy bench FROM '"$TMP/rows.csv"' CSV'
  since "$t"
}

awk -v n="$ROWS" 'BEGIN {srand(7); for (i = 1; i <= n; i++)
  printf "%d,%d,%d,%d,%d\n", i, rand()*1000, rand()*1000, rand()*1000000, rand()*100}' >"$TMP/rows.csv"

printf '%-44s %12s %12s %-5s %6s\n' '' kvsqld PostgreSQL unit ratio
start_kvsqld; start_postgres
for p in $OURS $THEIRS; do psql -qX -h 127.0.0.1 -p $p -U postgres postgres -v ON_ERROR_STOP=1 -f $HERE/schema.sql; done
turns "COPY $ROWS rows, one secondary index" s less copy
for p in $OURS $THEIRS; do query $p 'ANALYZE'; done
for mode in prepared simple; do
  for clients in 1 8; do turns "point SELECT, $mode, $clients clients" tps more tps $mode $clients point.sql; done
done
turns 'single-row INSERT, 8 clients' tps more tps simple 8 insert.sql
turns 'aggregate over a range, 100 groups' s less seconds \
  "SELECT d, sum(a * b), count(*) FROM bench WHERE c BETWEEN 100000 AND 900000 GROUP BY d"
turns 'hash join of two tables' s less seconds \
  "SELECT count(*), max(dim.name) FROM bench JOIN dim ON dim.d = bench.c"

restart() {
  local t
  if [ "$1" = $OURS ]; then stop_kvsqld; t=$(now); start_kvsqld; else stop_postgres; t=$(now); start_postgres; fi
  since "$t" >"$TMP/restart"
}
: >"$TMP/a"; : >"$TMP/b"
for _ in $(seq "$ROUNDS"); do
  restart $OURS; cat "$TMP/restart" >>"$TMP/a"; restart $THEIRS; cat "$TMP/restart" >>"$TMP/b"
done
report 'start to the first answer' s less "$TMP/a" "$TMP/b"
awk '/^VmRSS/ {print $2/1024}' "/proc/$KPID/status" >"$TMP/a"
awk '/^Pss:/ {n += $2} END {print n/1024}' $(pgrep -P "$(head -1 "$TMP/pg/postmaster.pid")" | sed 's#.*#/proc/&/smaps_rollup#') \
  "/proc/$(head -1 "$TMP/pg/postmaster.pid")/smaps_rollup" >"$TMP/b"
report 'memory after start' MB less "$TMP/a" "$TMP/b"
