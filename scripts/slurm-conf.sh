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
	local base=$1 nodes=$2 host=$3 user=$4 address=127.0.0.1
	[ -z "${SLURM_NET:-}" ] || address="$SLURM_NET.[2-$((nodes + 1))]"
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
	NodeName=n[1-$nodes] NodeHostname=$host NodeAddr=$address Port=[$((base + 1))-$((base + nodes))] Sockets=1 CoresPerSocket=${SLURM_CPUS:-2} ThreadsPerCore=1 RealMemory=${SLURM_MEM:-2000} State=UNKNOWN
	PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10
	PartitionName=short Nodes=ALL MaxTime=10 MaxNodes=4 DefaultTime=5
	END
}
