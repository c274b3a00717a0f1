# Accounting of a private Slurm cluster: a MariaDB and a slurmdbd below DIR; read by slurm.sh.
# The database has no users and no passwords: it listens on a Unix socket in a folder that only its owner can enter.
# shellcheck shell=bash

need_acct_commands() {
	local c missing=
	[ -n "${SLURM_ACCT:-}" ] || return 0
	for c in mariadbd slurmdbd sacctmgr; do
		command -v $c >/dev/null || missing="$missing $c"
	done
	[ -z "$missing" ] || fail "SLURM_ACCT needs:$missing (Debian packages mariadb-server-core slurmdbd slurm-client; see slurm.sh deps acct)"
}

# prepare_acct makes the database's folder, or takes over the key of the cluster whose slurmdbd is shared:
# munge's credentials hold among those who have the same key.
prepare_acct() {
	case ${SLURM_ACCT:-} in
	'') ;;
	own) (umask 077 && mkdir -p "$DIR/db/data") ;;
	*)
		[ -e "$SLURM_ACCT/slurmdbd.conf" ] || fail "SLURM_ACCT=$SLURM_ACCT: neither own nor the folder of a cluster with a slurmdbd"
		(umask 077 && cp "$SLURM_ACCT/munge/key" "$DIR/munge/key.new" && mv "$DIR/munge/key.new" "$DIR/munge/key")
		;;
	esac
}

# acct_daemons: those that this cluster has beside its own, in the order in which they start.
acct_daemons() { [ ! -e "$DIR/slurmdbd.conf" ] || echo db dbd; }

# acct_conf PORT: lines of slurm.conf; slurmdbd.conf is written where this cluster runs one, on that port.
acct_conf() {
	local port=$1
	case ${SLURM_ACCT:-} in
	'')
		echo AccountingStorageType=accounting_storage/none
		return
		;;
	own) dbd_conf "$port" ;;
	*) port=$(sed -n 's/^DbdPort=//p' "$SLURM_ACCT/slurmdbd.conf") ;;
	esac
	cat <<-END
	AccountingStorageType=accounting_storage/slurmdbd
	AccountingStorageHost=127.0.0.1
	AccountingStoragePort=$port
	AccountingStoragePass=$DIR/munge/socket
	AccountingStorageEnforce=limits,qos
	END
}

# dbd_conf PORT: slurmdbd takes no other name of its configuration than this one, beside slurm.conf.
dbd_conf() {
	(
		umask 077
		cat >"$DIR/slurmdbd.conf" <<-END
		# Written by scripts/slurm.sh.
		AuthType=auth/munge
		AuthInfo=socket=$DIR/munge/socket
		DbdHost=$(uname -n | cut -d. -f1)
		DbdAddr=127.0.0.1
		DbdPort=$1
		SlurmUser=$(id -un)
		LogFile=$DIR/log/slurmdbd.log
		PidFile=$DIR/run/slurmdbd.pid
		StorageType=accounting_storage/mysql
		StorageHost=localhost
		StorageLoc=slurm
		StorageUser=$(id -un)
		END
	)
}

# db_options sets the options of the smallest InnoDB that works. What a machine without power would lose need not last.
db_options() {
	DB_OPTIONS=(--no-defaults "--user=$(id -un)" "--datadir=$DIR/db/data" --skip-networking --skip-grant-tables --performance-schema=0
		--innodb-buffer-pool-size=24M --innodb-log-file-size=8M --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync
		--innodb-doublewrite=0 --innodb-lock-wait-timeout=900)
}

# make_database writes MariaDB's own tables: stored procedures, which slurmdbd uses, need them.
make_database() {
	[ ! -e "$DIR/db/made" ] || return 0
	{ printf '%s;\n' 'CREATE DATABASE IF NOT EXISTS mysql' 'USE mysql' && cat /usr/share/mysql/mysql_system_tables.sql; } |
		mariadbd "${DB_OPTIONS[@]}" --bootstrap >"$DIR/log/make-db.out" 2>&1 || fail "the database cannot be made; see $DIR/log/make-db.out"
	: >"$DIR/db/made"
}

launch_db() {
	local DB_OPTIONS
	db_options
	make_database
	rm -f "$DIR/db/socket"
	detach db mariadbd "${DB_OPTIONS[@]}" --socket="$DIR/db/socket" --pid-file="$DIR/db/pid"
}

# Slurm has no option for the socket of its database; MariaDB's library reads this variable.
launch_dbd() { MYSQL_UNIX_PORT=$DIR/db/socket detach dbd slurmdbd -D; }

answers_dbd() { ! port_free "$(sed -n 's/^DbdPort=//p' "$DIR/slurmdbd.conf")" && sacctmgr -n show cluster >/dev/null 2>&1; }

# register: slurmdbd knows the cluster, and on it the user that runs it, in the account "main".
register() {
	local name
	grep -q '^AccountingStorageType=accounting_storage/slurmdbd' "$CONF" || return 0
	name=$(sed -n 's/^ClusterName=//p' "$CONF")
	[ -z "$(sacctmgr -nP show cluster "$name" format=cluster)" ] || return 0
	{
		sacctmgr -i add cluster "$name"
		sacctmgr -i add account main cluster="$name" description=tests organization=tests
		sacctmgr -i add user "$(id -un)" account=main cluster="$name"
		sacctmgr -i modify user "$(id -un)" set defaultaccount=main
	} >>"$DIR/log/sacctmgr.out" 2>&1 || fail "the cluster cannot be registered; see $DIR/log/sacctmgr.out"
}
