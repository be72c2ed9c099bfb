# Keeps a PostgreSQL server, and perhaps a standby of it, in a folder that it removes in the end. $1 is where the programs are.
bin=$1
dir=$(mktemp -d /tmp/dirigent-postgres.XXXXXX) || exit 1
at=$dir # the folder of the server that takes writes

start() { # the folder, further settings
    "$bin/pg_ctl" -s -w -D "$1/data" -l "$1/log" -o "-c listen_addresses='' -c unix_socket_directories='$1' \
        -c max_connections=200 -c shared_buffers=128MB -c max_wal_size=2GB -c wal_keep_size=256MB $2" start 3>&-
}

stop() { # the folder, how
    "$bin/pg_ctl" -s -w -D "$1/data" -m "$2" stop
}

processes() { # all of the server that takes writes
    pid=$(head -n 1 "$at/data/postmaster.pid") && echo "$pid" && pgrep -P "$pid"
}

ask() { "$bin/psql" -qAtX -h "$at" -U postgres -d postgres -c "$1"; }

elsewhere() { if [ "$at" = "$dir" ]; then echo "$dir/other"; else echo "$dir"; fi; }

# What the standby copied names no standby: once it is promoted it waits for none.
standby() {
    next=$(elsewhere)
    rm -rf "$next/data" && mkdir -p "$next" || return 1
    "$bin/pg_basebackup" -h "$at" -U postgres -D "$next/data" -R -X stream -c fast && start "$next" || return 1
    ask "ALTER SYSTEM SET synchronous_standby_names = '*'" && ask "SELECT pg_reload_conf()" || return 1
    tries=0
    until [ "$(ask "SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")" = sync ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || return 1
        sleep 0.1
    done
    # Comes back when the standby has it, and all that was acknowledged before.
    ask "CREATE TABLE IF NOT EXISTS mirrored (at timestamptz); INSERT INTO mirrored VALUES (now())"
}

promote() {
    at=$(elsewhere)
    "$bin/pg_ctl" -s -w -D "$at/data" promote
}

# How long a connection is a client's: for a transaction, or for a statement.
pooler() {
    program=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || return 1
    echo '"postgres" ""' >"$dir/users"
    cat >"$dir/pgbouncer.ini" <<END
[databases]
* = host=$at
[pgbouncer]
unix_socket_dir = $dir
listen_port = 6432
auth_type = trust
auth_file = $dir/users
pool_mode = $1
END
    "$program" -q "$dir/pgbouncer.ini" 3>&- &
    pooler=$!
    tries=0
    until [ -S "$dir/.s.PGSQL.6432" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 100 ] || return 1
        sleep 0.1
    done
}

exec 3>&1 >/dev/null 2>&1 # answers go to 3
"$bin/initdb" -A trust -U postgres -E UTF8 --locale=C.UTF-8 -D "$dir/data" && start "$dir" || { rm -rf "$dir"; exit 1; }
echo "$dir" >&3
while read -r word rest; do
    case $word in
    stop) stop "$at" "$rest" ;;
    start) start "$at" "$rest" ;;
    pause) kill -STOP $(processes) ;;
    resume) kill -CONT $(processes) ;;
    standby) standby ;;
    promote) promote ;;
    pooler) pooler "$rest" ;;
    esac
    echo "$?" >&3
done
[ -z "$pooler" ] || kill "$pooler"
for folder in "$dir" "$dir/other"; do
    # One that stands still cannot stop.
    pid=$(head -n 1 "$folder/data/postmaster.pid") && kill -CONT "$pid" $(pgrep -P "$pid")
    stop "$folder" immediate
done
rm -rf "$dir"
