#!/usr/bin/env bash
# Measures the location-based services: kvsqld with normalised tables (btree,
# inverted indexes) and region-clustered, PostgreSQL 15 with btree indexes and with
# PostGIS. Which events have show times this week near a user?
#
#   testdata/bench/lbs.sh                     135,233 places, 10,000 users, all systems
#   LBS_SIZES='1 3 10' testdata/bench/lbs.sh  three and ten times the places, too: work
#                                             must follow the answers and not the tables
#   LBS_SIZES=0.02 LBS_USERS=1000 testdata/bench/lbs.sh    small
#
# LBS_SECONDS (20) bounds each measurement; there are four for each system, radius
# and size. LBS_KM ('2 10 50') are the radii, LBS_SYSTEMS words of systems' names.
# The files of size 10 need 60 GB below BENCH_DIR.
set -euo pipefail
cd "$(dirname "$0")/../.."
PG=/usr/lib/postgresql/15/bin
[ -x "$PG/initdb" ] || PG=$(dirname "$(command -v initdb)")
if [ ! -e /usr/share/postgresql/15/extension/postgis.control ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get install -y postgresql-15-postgis-3 >/dev/null || echo 'PostGIS cannot be installed and is not measured'
fi
TMP=$(mktemp -d "${BENCH_DIR:-$PWD}/lbs.XXXXXX")
OURS=${OURS:-15435} THEIRS=${THEIRS:-15436} KPID=
as_postgres() { if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
cleanup() {
  [ -z "$KPID" ] || kill "$KPID" 2>/dev/null || true
  as_postgres "$PG/pg_ctl" -D "$TMP/pg" -m immediate stop >/dev/null 2>&1 || true
  rm -rf "$TMP"
}
trap cleanup EXIT
chmod 711 "$TMP"; mkdir "$TMP/pg" "$TMP/kv"
if [ "$(id -u)" = 0 ]; then chown postgres "$TMP/pg"; fi
as_postgres "$PG/initdb" -D "$TMP/pg" -U postgres -A trust --no-locale -E UTF8 >/dev/null
as_postgres "$PG/pg_ctl" -D "$TMP/pg" -l "$TMP/pg/log" -w start \
  -o "-p $THEIRS -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c shared_buffers=2GB -c jit=off -c max_wal_size=8GB" >/dev/null
"${KVSQLD:-bin/kvsqld}" serve --data "$TMP/kv" --listen "127.0.0.1:$OURS" --log-level warn & KPID=$!
until psql -qX -h 127.0.0.1 -p "$OURS" -U postgres -c 'SELECT 1' postgres >/dev/null 2>&1; do :; done
LBS_KVSQLD="postgres://postgres@127.0.0.1:$OURS/postgres?sslmode=disable" \
LBS_PG="postgres://postgres@127.0.0.1:$THEIRS/postgres?sslmode=disable" \
LBS_KVSQLD_PID=$KPID LBS_PG_PID=$(head -1 "$TMP/pg/postmaster.pid") \
  go test -count=1 -timeout 0 -run 'TestLBSBench$' -v ./cmd/kvsqld | grep --line-buffered -v '^=== '
