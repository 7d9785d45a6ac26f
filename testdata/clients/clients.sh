#!/usr/bin/env bash
# Runs real clients, each with one program of its own, against kvsqld and
# against PostgreSQL 15, and compares what the programs print.
#
#   testdata/clients/clients.sh              all clients
#   ONLY='psql|django' testdata/clients/clients.sh
#   KEEP=dir …                               keeps what they printed
#
# A client is a folder of programs/ with an executable "run". It finds the server
# in PGHOST, PGPORT, PGUSER and PGDATABASE (an empty database), and a folder that
# stays between runs, for what it builds or installs, in CACHE. What it prints
# to stdout is compared; a first line "# …" tells the version. Status 75 means
# that the client is not installed, any other but 0 is a failure. The file
# "known" has the lines that may differ: a regular expression and, behind a tab, why.
set -uo pipefail
cd "$(dirname "$0")/../.."
BIN=$(realpath "${KVSQLD:-bin/kvsqld}") HERE=$PWD/testdata/clients
ONLY=${ONLY:-.} LIMIT=${LIMIT:-300}
PG=/usr/lib/postgresql/15/bin
[ -x "$PG/initdb" ] || PG=$(dirname "$(command -v initdb)")
export PATH=$PG:$PATH PGHOST=127.0.0.1 PGUSER=postgres PGCONNECT_TIMEOUT=20 TZ=UTC LC_ALL=C.UTF-8 PGTZ=UTC
export PYTHONHASHSEED=0 LOCAL_PORT=${THEIRS:-15434}
export CACHE_ROOT=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/kvsqld-clients}
OURS=${OURS:-15433} THEIRS=${THEIRS:-15434}
TMP=$(mktemp -d) OUT=${KEEP:-$TMP/out}
mkdir -p "$OUT" "$CACHE_ROOT"
as_postgres() { if [ "$(id -u)" = 0 ]; then (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups "$@"); else "$@"; fi; }
KPID=
cleanup() {
  [ -z "$KPID" ] || { kill "$KPID"; wait "$KPID"; } 2>/dev/null
  as_postgres "$PG/pg_ctl" -D "$TMP/pg" -m immediate stop >/dev/null 2>&1
  rm -rf "$TMP"
}
trap cleanup EXIT

chmod 711 "$TMP"; mkdir "$TMP/pg" "$TMP/kv"
if [ "$(id -u)" = 0 ]; then chown postgres "$TMP/pg"; fi
as_postgres "$PG/initdb" -D "$TMP/pg" -U postgres -A trust --no-locale -E UTF8 --no-sync >/dev/null || exit 1
as_postgres "$PG/pg_ctl" -D "$TMP/pg" -l "$TMP/pg/log" -w start \
  -o "-p $THEIRS -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c timezone=UTC -c max_prepared_transactions=0" >/dev/null || exit 1
"$BIN" serve --data "$TMP/kv" --listen "127.0.0.1:$OURS" 2>"$OUT/server.log" & KPID=$!
until pg_isready -q -p "$OURS" || ! kill -0 "$KPID" 2>/dev/null; do :; done

# play NAME PORT FILE: one client on one server
play() {
  local db=client_${1//-/_}
  psql -qX -p "$2" -d postgres -c "DROP DATABASE IF EXISTS $db" -c "CREATE DATABASE $db" >/dev/null 2>&1 || return 1
  CACHE=$CACHE_ROOT/$1 PGPORT=$2 PGDATABASE=$db timeout "$LIMIT" ./run >"$3" 2>"$3.err" </dev/null
}
same=0 bad=0 absent=0
for dir in "$HERE"/programs/*/run; do
  dir=${dir%/run} name=$(basename "${dir%/run}")
  [[ $name =~ $ONLY ]] || continue
  mkdir -p "$CACHE_ROOT/$name"
  cd "$dir" || exit 1
  a=$OUT/$name.kvsqld b=$OUT/$name.postgresql
  play "$name" "$THEIRS" "$b"; status=$?
  if [ $status = 75 ]; then
    printf '%-14s not installed: %s\n' "$name" "$(tail -1 "$b.err")"; absent=$((absent + 1)); continue
  fi
  if [ $status != 0 ]; then
    printf '%-14s FAILED on PostgreSQL, status %d\n' "$name" $status; tail -5 "$b.err"; bad=$((bad + 1)); continue
  fi
  play "$name" "$OURS" "$a"; status=$?
  diff "$b" "$a" | grep '^[<>]' >"$OUT/$name.diff"
  if [ -e known ]; then
    cut -f1 known | grep -v '^$' >"$TMP/known"
    sed 's/^..//' "$OUT/$name.diff" | grep -vEf "$TMP/known" >"$TMP/rest"
  else
    sed 's/^..//' "$OUT/$name.diff" >"$TMP/rest"
  fi
  version=$(sed -n '1s/^# //p' "$a")
  if [ $status != 0 ] || [ -s "$TMP/rest" ]; then
    printf '%-14s %-40s DIFFERS, status %d, %d lines\n' "$name" "$version" $status "$(wc -l <"$TMP/rest")"
    head -20 "$OUT/$name.diff"; tail -5 "$a.err"
    bad=$((bad + 1))
  else
    printf '%-14s %-40s equal, %d lines, %d known to differ\n' "$name" "$version" "$(wc -l <"$a")" "$(wc -l <"$OUT/$name.diff")"
    same=$((same + 1))
  fi
  kill -0 "$KPID" 2>/dev/null || { echo "kvsqld has stopped"; tail -20 "$OUT/server.log"; exit 1; }
done
if grep -E 'level=ERROR|panic' "$OUT/server.log"; then echo "kvsqld logged errors"; bad=$((bad + 1)); fi
echo "$same passed, $bad failed, $absent skipped"
[ $bad = 0 ] && [ $((same + bad)) -gt 0 ]
