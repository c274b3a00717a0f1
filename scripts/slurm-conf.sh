# The configuration of a private Slurm cluster; read by slurm.sh, whose DIR and CONF it uses.
# shellcheck shell=bash

# port_free PORT [ADDRESS]
port_free() { ! (exec 3<>"/dev/tcp/${2:-127.0.0.1}/$1") 2>/dev/null; }

# pick_ports N: the first of N adjacent ports nobody listens on, below the range that
# the kernel gives to clients. Another process may take one meanwhile; then a
# daemon ends and up tries other ports.
pick_ports() {
	local n=$1 base p
	while :; do
		base=$((10000 + RANDOM * 2 % 20000))
		for ((p = base; p < base + n; p++)); do port_free $p || continue 2; done
		echo "$base"
		return
	done
}

# write_conf BASE: slurm.conf with the controller on port BASE and the nodes above.
write_conf() {
	local base=$1 nodes=${SLURM_NODES:-8} host user extra
	host=$(uname -n) # the short name, known without any name service
	host=${host%%.*}
	user=$(id -un)
	extra=$(printf '%s\n' "${SLURM_EXTRA:-}" | sed 's/^[[:space:]]*//')
	generated_conf "$base" "$nodes" "$host" "$user" | without_keys_of "$extra" >"$CONF.new"
	[ -z "$extra" ] || printf '# SLURM_EXTRA\n%s\n' "$extra" >>"$CONF.new"
	mv "$CONF.new" "$CONF"
	node_names >/dev/null || { rm "$CONF"; fail "Slurm does not take this slurm.conf; see SLURM_EXTRA"; }
	echo "CgroupPlugin=$(cgroup_plugin)" >"$DIR/cgroup.conf"
	write_gpus
}

# node_groups NODES PORT: for each group of nodes with equal GPUs, in the order of their numbers: its first and last
# number, its first port, and the number and type of its GPUs. SLURM_GPUS has the groups with GPUs; the rest has none.
node_groups() {
	local nodes=$1 port=$2 first=1 group of n type
	for group in ${SLURM_GPUS:-} "$nodes::"; do
		IFS=: read -r of n type <<<"$group"
		of=$((of < nodes - first + 1 ? of : nodes - first + 1))
		[ "$of" -gt 0 ] || continue
		echo "$first $((first + of - 1)) $((port + first - 1)) $n $type"
		first=$((first + of))
	done
}

# node_lines NODES PORT HOST ADDRESS: the NodeName lines.
node_lines() {
	local first last port n type gres address=$4
	node_groups "$1" "$2" | while read -r first last port n type; do
		gres=
		[ -z "$n" ] || gres=" Gres=gpu:$type:$n"
		[ -z "${SLURM_NET:-}" ] || address="$SLURM_NET.[$((first + 1))-$((last + 1))]"
		echo "NodeName=n[$first-$last] NodeHostname=$3 NodeAddr=$address Port=[$port-$((port + last - first))] Sockets=1 CoresPerSocket=${SLURM_CPUS:-2} ThreadsPerCore=1 RealMemory=${SLURM_MEM:-2000}$gres State=UNKNOWN"
	done
}

# write_gpus: gres.conf. slurmd wants character devices and takes their numbers from the ends of their names: links to one that is there.
write_gpus() {
	local first last port n type i
	[ -n "${SLURM_GPUS:-}" ] || return 0
	mkdir -p "$DIR/gpus"
	node_groups "${SLURM_NODES:-8}" 0 | while read -r first last port n type; do
		[ -n "$n" ] || continue
		(cd "$DIR/gpus" && for ((i = 0; i < n; i++)); do ln -sf /dev/null "$type-$i"; done)
		echo "NodeName=n[$first-$last] Name=gpu Type=$type File=$DIR/gpus/$type-[0-$((n - 1))]"
	done >"$DIR/gres.conf"
}

# gpu_conf: the lines of slurm.conf with which GPUs are given out and, where there is a database for it, accounted for.
gpu_conf() {
	[ -n "${SLURM_GPUS:-}" ] || return 0
	echo GresTypes=gpu
	[ -z "${SLURM_ACCT:-}" ] || echo "AccountingStorageTRES=gres/gpu$(for g in $SLURM_GPUS; do echo "${g##*:}"; done | sort -u | sed 's/^/,gres\/gpu:/' | tr -d '\n')"
}

# binding: Slurm can listen on the address of the machine's name instead of on all of them,
# which serves where that is the loopback. Elsewhere munge's key keeps strangers out.
binding() {
	local address
	[ -z "${SLURM_NET:-}" ] || return 0 # each on all addresses of its own network
	address=$( (getent ahostsv4 "$(uname -n)" || true) | awk 'NR == 1 { print $1 }')
	[ "$address" != 127.0.0.1 ] || echo CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
}

# cgroup_plugin: nothing here uses control groups, but slurmd loads a plugin for them. That
# for their first version touches nothing; Slurm from 23.11 on knows "disabled".
cgroup_plugin() {
	local version
	version=$(slurmd -V | awk '{ print $2 }')
	if printf '%s\n' 23.11 "$version" | sort -VC; then echo disabled; else echo cgroup/v1; fi
}

# without_keys_of LINES: standard input without the lines whose key LINES sets too.
without_keys_of() {
	EXTRA=$1 awk -F= 'BEGIN {
		n = split(ENVIRON["EXTRA"], line, "\n")
		for (i = 1; i <= n; i++) { split(line[i], kv, "="); if (kv[1] != "") set[tolower(kv[1])] = 1 }
		delete set["partitionname"]; delete set["nodename"]
	}
	!(tolower($1) in set)'
}

generated_conf() {
	local base=$1 nodes=$2 host=$3 user=$4
	cat <<-END
	# Written by scripts/slurm.sh.
	ClusterName=${SLURM_NAME:-berth}
	SlurmctldHost=$host(${SLURM_NET:-127.0.0}.1)
	SlurmctldPort=$base
	SlurmUser=$user
	SlurmdUser=$user
	$(binding)
	AuthType=auth/munge
	AuthInfo=socket=$DIR/munge/socket
	CredType=cred/munge
	StateSaveLocation=$DIR/state
	SlurmctldPidFile=$DIR/run/slurmctld.pid
	SlurmctldLogFile=$DIR/log/slurmctld.log
	SlurmdSpoolDir=$DIR/spool/%n
	SlurmdPidFile=$DIR/run/%n.pid
	SlurmdLogFile=$DIR/log/%n.log
	SlurmctldSyslogDebug=quiet
	SlurmdSyslogDebug=quiet
	# Processes are followed by their parents; nothing needs root or control groups.
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	JobAcctGatherType=jobacct_gather/none
	$(acct_conf $((base + nodes + 1)))
	MpiDefault=none
	MailProg=/bin/true
	# Nodes have the CPUs and the memory said here, whatever the machine has.
	SlurmdParameters=config_overrides
	SelectType=select/cons_tres
	SelectTypeParameters=CR_Core_Memory
	DefMemPerCPU=100
	# Plans are made every second, to the second, for the whole queue.
	SchedulerType=sched/backfill
	SchedulerParameters=bf_interval=1,bf_resolution=1,bf_continue,bf_max_job_test=1000,bf_window=2880,batch_sched_delay=0,sched_interval=2,default_queue_depth=1000
	# A node that does not answer is down soon, and back as soon as it answers.
	SlurmdTimeout=15
	ReturnToService=2
	KillWait=2
	OverTimeLimit=0
	InactiveLimit=0
	MinJobAge=3600
	$(gpu_conf)
	$(node_lines "$nodes" $((base + 1)) "$host" 127.0.0.1)
	PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10
	PartitionName=short Nodes=ALL MaxTime=10 MaxNodes=4 DefaultTime=5
	END
}
