#!/usr/bin/env bash
# make.sh SERVER: writes data.tar.zst and read.out anew with this palisade. See README.md.
set -euo pipefail
cd "$(dirname "$0")"
server=$(realpath "$1")
work=$(mktemp -d)
touch "$work/log"
trap 'kill -9 $(jobs -p) 2> /dev/null; rm -r "$work"' EXIT
port=${PORT:-3441}
client() { mysql --no-defaults --default-character-set=utf8mb4 --host=127.0.0.1 --port="$port" --user=root "$@"; }
"$server" --no-defaults --datadir="$work/data" --port="$port" --socket= --innodb-buffer-pool-size=16M \
    --innodb-redo-log-capacity=8M --palisade-undo-reserve-size=1M --innodb-doublewrite-pages=8 --innodb-page-cleaners=1 2> "$work/log" &
pid=$!
until grep -q 'ready for connections' "$work/log"; do kill -0 "$pid"; sleep 0.1; done
client < write.sql
# Most pages are on disk then, and what follows is in the redo log only.
sleep 3
(cat open.sql; sleep 30) | client --unbuffered > /dev/null &
sleep 2
client < late.sql
kill -9 "$pid"
wait "$pid" || true
tar --create --format=ustar --sort=name --owner=0 --group=0 --numeric-owner --mtime=2020-01-01 --directory="$work" \
    --exclude='*.pem' --exclude=palisade.lock data | zstd --quiet --ultra -22 --force -o data.tar.zst
# What it answers, once it has recovered.
"$server" --no-defaults --datadir="$work/data" --port="$port" --socket= --innodb-buffer-pool-size=16M \
    --innodb-redo-log-capacity=8M 2> "$work/log" &
pid=$!
until grep -q 'ready for connections' "$work/log"; do kill -0 "$pid"; sleep 0.1; done
sleep 2
sed 's/$/;/' read.sql | client --batch --raw --skip-column-names > read.out
kill "$pid"
wait "$pid" || true
ls -l data.tar.zst
