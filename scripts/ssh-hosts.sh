#!/bin/sh
# Two hosts that ssh reaches, h1 and h2, on this machine: servers of ssh on loopback ports, with keys and a configuration of their own.
# ssh-hosts.sh up DIR | down DIR. Ports are SSH_PORT (22822) and the next one.
set -eu
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin # daemons are there, and ordinary users have it not on PATH
dir=$2
case $1 in
up)
	scripts/deps.sh sshd=openssh-server ssh=openssh-client
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
	mkdir -m 700 "$dir"
	ssh-keygen -q -t ed25519 -N '' -C '' -f "$dir/client"
	port=${SSH_PORT:-22822}
	for host in h1 h2; do
		ssh-keygen -q -t ed25519 -N '' -C '' -f "$dir/$host"
		echo "[127.0.0.1]:$port $(cat "$dir/$host.pub")" >>"$dir/known"
		printf 'Host %s\n\tHostName 127.0.0.1\n\tPort %s\n' $host "$port" >>"$dir/config"
		printf '%s\n' "ListenAddress 127.0.0.1" "Port $port" "HostKey $dir/$host" "AuthorizedKeysFile $dir/client.pub" "PidFile $dir/$host.pid" \
			"StrictModes no" "UsePAM no" "PasswordAuthentication no" "SetEnv XDG_CACHE_HOME=$dir/$host.cache" >"$dir/$host.conf"
		"$(command -v sshd)" -f "$dir/$host.conf" -E "$dir/$host.log"
		port=$((port + 1))
	done
	printf 'Host *\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n' "$dir/client" "$dir/known" >>"$dir/config"
	echo "export BERTH_SSH='ssh -F $dir/config'"
	;;
down)
	for host in h1 h2; do
		[ ! -s "$dir/$host.pid" ] || kill "$(cat "$dir/$host.pid")" 2>/dev/null || true
	done
	rm -rf "$dir"
	;;
*)
	echo "usage: ssh-hosts.sh up DIR | down DIR" >&2
	exit 1
	;;
esac
