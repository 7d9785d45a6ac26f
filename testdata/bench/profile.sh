#!/usr/bin/env bash
# Writes testdata/bench/kvsqld.pgo: where the processor's time goes under a mixed
# load, small transactions and bulk statements. The compiler inlines by it.
#
#   SECONDS_EACH=12 ROWS=200000 testdata/bench/profile.sh
set -euo pipefail
cd "$(dirname "$0")/../.."
HERE=testdata/bench EACH=${SECONDS_EACH:-12} ROWS=${ROWS:-200000} PORT=${PORT:-15433}
TMP=$(mktemp -d) PID=
cleanup() { [ -z "$PID" ] || kill "$PID" 2>/dev/null || true; rm -rf "$TMP"; }
trap cleanup EXIT
connect() { psql -qX -h 127.0.0.1 -p "$PORT" -U postgres -v ON_ERROR_STOP=1 "$@" postgres; }

go build -trimpath -o "$TMP/kvsqld" ./cmd/kvsqld # no folder of this machine in the profile
"$TMP/kvsqld" serve --data "$TMP/kv" --listen "127.0.0.1:$PORT" --log-level warn --cpu-profile "$TMP/cpu" & PID=$!
until connect -c 'SELECT 1' >/dev/null 2>&1; do sleep 0.1; done
connect -f $HERE/schema.sql -f $HERE/near_schema.sql
awk -v n="$ROWS" 'BEGIN {srand(7); for (i = 1; i <= n; i++)
  printf "%d,%d,%d,%d,%d\n", i, rand()*1000, rand()*1000, rand()*1000000, rand()*100}' >"$TMP/rows.csv"
awk 'BEGIN {printf "INSERT INTO log (a, b) VALUES "; for (i = 1; i <= 10000; i++)
  printf "%s(%d, '\''a note of row %d'\'')", (i > 1 ? "," : ""), i, i; print ";"
  print "BEGIN;"; for (i = 1; i <= 20000; i++)
  printf "INSERT INTO log (a, b) VALUES (%d, '\''a note of row %d'\'');\n", i, i; print "COMMIT;"}' >"$TMP/inserts.sql"
for _ in 1 2; do
  connect -c 'TRUNCATE bench'
  connect -c '\copy bench FROM '"$TMP/rows.csv"' CSV'
  connect -c 'ANALYZE'
  connect -f "$TMP/inserts.sql" -f $HERE/profile.sql >/dev/null
done
while read -r mode clients script; do
  pgbench -n -h 127.0.0.1 -p "$PORT" -U postgres -M "$mode" -c "$clients" -j 2 -T "$EACH" \
    -D rows="$ROWS" -D scale=10 -f $HERE/"$script" postgres >/dev/null 2>&1
done <<'LOADS'
prepared 8 tpcb.sql
prepared 1 tpcb.sql
simple 8 insert.sql
prepared 8 point.sql
simple 8 point.sql
prepared 1 box.sql
prepared 1 lookup.sql
prepared 4 near.sql
LOADS
kill "$PID"; wait "$PID" || true; PID=
mv "$TMP/cpu" $HERE/kvsqld.pgo
