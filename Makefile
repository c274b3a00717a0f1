# berth: build, try, test and measure. CONTRIBUTING.md says more.
GO    ?= go
BERTH := bin/berth
LAB   := bin/berth-lab
export CGO_ENABLED ?= 0

# Where the private Slurm cluster of slurm-up is; a short name, for its sockets' sake.
SLURM_DIR ?= $${TMPDIR:-/tmp}/berth-slurm
PBS_DIR ?= $${TMPDIR:-/tmp}/berth-pbs
GE_DIR ?= $${TMPDIR:-/tmp}/berth-gridengine

.PHONY: build lab install dist dist-test upgrade-test demo test quick lint docs dashboard-shots bench mutants coverage turnaround phases phases-sim stragglers-sim stragglers starts figures trace trace-bags trace-mutants fleet soak soak-table engines gangs doors-soak load slurm-up slurm-down gridengine-up gridengine-down pbs-up pbs-down ssh-up ssh-down clean

# The compiler has less to do without tables for debuggers, which a program without symbols does not have anyway (a seventh of its
# time), and when it collects garbage less often (a quarter of its time for SQLite).
COMPILE := GOGC=400 $(GO) build -gcflags=all=-dwarf=false -ldflags="-s -w"

build: ; $(COMPILE) -o $(BERTH) ./cmd/berth

# The laboratory: the command line of berth, and beside it experiments and the policies of other systems.
lab: ; $(COMPILE) -o $(LAB) ./cmd/berth-lab

# The program with pages for man and completions for bash, zsh and fish: make install PREFIX=$$HOME/.local
PREFIX ?= /usr/local
install: build ; scripts/install.sh $(BERTH) $(DESTDIR)$(PREFIX)

# A tarball, a Debian package and a Python wheel of the same, with checksums, in dist/: the same bytes from the same commit, wherever its folder is.
RELEASED := bin/release/berth
dist: ; $(COMPILE) -buildvcs=auto -trimpath -ldflags="-s -w -buildid=" -o $(RELEASED) ./cmd/berth && scripts/dist.sh $(RELEASED) dist

# Makes them twice from two clones of the present commit, compiled anew each time, compares them, and runs the README's first example
# from each. Some five minutes on two cores.
dist-test: ; scripts/dist-test.sh

# Jobs under way while the program is exchanged, by this one and by an older one, both ways: UPGRADE_ROUNDS rounds, some three minutes.
OLDER ?= 98087d61
UPGRADE_ROUNDS ?= 20
upgrade-test: ; BERTH_OLDER=$$(scripts/older.sh $(OLDER)) BERTH_FAULT_ROUNDS=$(UPGRADE_ROUNDS) $(GO) test -count=1 -timeout 2h -run 'TestUpgrade$$' -v ./test

# Counts the words of the Go toolchain's source and prints the ten most frequent.
demo: build ; scripts/demo.sh $(BERTH)

# Everything that must hold: format, vet, staticcheck, import rules, docs, all tests, some thousand executions of each fuzz
# target. Installs what it needs from Debian and PyPI if missing.
test: ; scripts/test.sh

# The part that matters while one works, in less than a minute.
quick: ; scripts/quick.sh

lint: ; scripts/lint.sh

# Writes the generated pages of docs/ anew.
docs: ; BERTH_WRITE_DOCS=1 $(GO) test ./internal/command ./test/arch -run "TestDocsAreCurrent|TestJSONIsDocumented" -count=1

# The pictures of docs/dashboard.md; SHOTS has flags, "-all DIR" for all pages in all sizes.
dashboard-shots: build ; scripts/deps.sh chromium=chromium && $(GO) run ./test/dashboard -berth $(BERTH) -docs docs $(SHOTS)

# The tables of lab/results/performance.md, as ratios against peers in the same run; BENCH_RUNS turns. BENCH_ONLY=peers leaves out the rest.
bench: BENCH_RUNS ?= 6
bench: build ; BENCH_RUNS=$(BENCH_RUNS) $(GO) run ./lab/table -docs lab/results/performance.md -name bench -repetitions $(BENCH_RUNS) -- scripts/bench.sh

# The table of lab/results/turnaround.md: berth's choice beside users' habits in a script of queue
# situations, on private Slurm clusters, or on others: TURNAROUND="-system pbs", "-system gridengine". About 35 minutes; more flags:
# "-only hole", "-parallel 6". TURNAROUND="-drawn 60 -repeat 3 -out DIR" draws situations by a seed in place of the script, and can go on
# where it ended: about two hours.
turnaround: build ; $(GO) run ./lab/turnaround -berth $(BERTH) -docs lab/results/turnaround.md $(TURNAROUND)

# The tables and figures of lab/results/phases.md: all schedulers on a private cluster of three nodes with limited
# networks, CPU time, memory and disks. Needs root. About half an hour; PHASES has flags, "-quick" say.
phases: lab ; scripts/slurm.sh deps && scripts/nodes.sh deps && scripts/deps.sh python3=python3 && $(GO) run ./lab/phases -berth $(LAB) -docs lab/results/phases.md $(PHASES)

# The tables of simulations in the same page; REPLICATIONS=30 makes more simulations; PHASES_SIM has more flags of berth-lab phases.
phases-sim: REPLICATIONS ?= 10
phases-sim: lab ; $(GO) run ./lab/table -docs lab/results/phases.md -name simulated -repetitions $(REPLICATIONS) -- scripts/phases-sim.sh $(LAB) --replications $(REPLICATIONS) $(PHASES_SIM)

# The measured tables of lab/results/stragglers.md: all rules on slow tasks on workers of this machine one of which becomes slow, with the two jobs
# in stages of examples. Needs root. About an hour; STRAGGLERS has flags: "-quick" for four minutes, "-rules nothing,berth -repeat 5" say.
stragglers: lab ; scripts/deps.sh /usr/bin/convert=imagemagick velveth=velvet python3=python3 && $(GO) run ./lab/stragglers -berth $(LAB) -docs lab/results/stragglers.md $(STRAGGLERS)

# Programs of Debian with all of their functions planted, beside themselves as they are, and what planting costs: the tables
# of lab/results/planting.md. Some ten minutes, and a gigabyte of Debian's packages; TRACE has flags, "-repeat 20" say.
trace: build ; scripts/trace.sh deps && $(GO) run ./lab/plant -berth $(BERTH) -docs lab/results/planting.md $(TRACE)

# The same programs as tasks of a second bag, with --progress hits and without, and a thousand damaged programs, which only a
# user without privileges may run. Some ten minutes.
trace-bags: build ; $(GO) run ./lab/plant -berth $(BERTH) -bags -repeat 1 -docs lab/results/planting.md $(TRACE)
trace-mutants: build ; $(GO) run ./lab/plant -berth $(BERTH) -mutate 1000 -repeat 1 -bound 10s $(TRACE)

# The tables of simulations in lab/results/stragglers.md; REPLICATIONS=10 makes fewer; STRAGGLERS_SIM has more flags of berth-lab stragglers.
stragglers-sim: REPLICATIONS ?= 100
stragglers-sim: lab ; $(GO) run ./lab/table -docs lab/results/stragglers.md -name simulated -repetitions $(REPLICATIONS) -- scripts/stragglers-sim.sh $(LAB) --replications $(REPLICATIONS) $(STRAGGLERS_SIM)

# The table in lab/results/starts.md, of the logs named by LOGS in the Standard Workload Format; SEEDS are those of the first of them.
starts: SEEDS ?= 1 2 3
starts: lab ; $(GO) run ./lab/table -docs lab/results/starts.md -name starts -- scripts/starts.sh $(LAB) "$(SEEDS)" $(LOGS)

# All measurements in an order that fits a night, and the page lab/results/figures.md; started again, it goes on where it was
# ended. Needs root. FIGURES=-quick tries those that have a short form, in some ten minutes; FIGURES=-page only writes the page.
figures: ; $(GO) run ./lab/figures $(FIGURES)

# Changes places of the source, one at a time, and runs the tests that should notice; needs root for a process
# namespace of its own. MUTANTS has flags, "-seed 7 -n 20 -packages wire" say, or "-in before.json" to repeat others.
mutants: ; $(GO) run ./test/mutants $(MUTANTS)

# Statement coverage by package of all tests, the berth that end-to-end tests build included. COVERAGE has another
# folder of the source and packages, "../before berth/internal/wire" say.
coverage: ; scripts/coverage.sh $(COVERAGE)

# Hours of the same with thousands of random cases, long fuzzing and long fault runs; scripts/soak.sh says what can be set.
soak: ; scripts/soak.sh

# The fault tests alone, for SOAK_ROUNDS rounds of each family, and the table of lab/results/soak.md; SOAK_FAMILIES='FaultBag|FaultOpen' makes
# those alone. scripts/soak-table.sh says what can be set.
soak-table: SOAK_ROUNDS ?= 1000
soak-table: ; SOAK_ROUNDS=$(SOAK_ROUNDS) $(GO) run ./lab/table -docs lab/results/soak.md -name soak -repetitions $(SOAK_ROUNDS) -- scripts/soak-table.sh

# Workflow engines' own executors and other executors in Python beside berth, on a private Slurm cluster with accounting: the tables and the figure of
# lab/results/engines.md. ENGINES has flags, "-only maps -repeat 3" say, or "-short 100"; with an hour or two for all.
engines: build ; scripts/slurm.sh deps acct && venv=$$(scripts/doors.sh compare) && $(GO) run ./lab/engines -berth $(BERTH) -venv $$venv -docs lab/results/engines.md $(ENGINES)

# Gangs beside small tasks by berth and by HyperQueue, from PyPI, on a private Slurm cluster: the table of lab/results/gangs.md. About half an hour;
# GANGS has flags, "-gangs 6 -small 200 -repeat 1" say.
HYPERQUEUE := bin/hyperqueue-0.27.0
$(HYPERQUEUE): ; python3 -m pip install -q --target $@ hyperqueue==0.27.0
gangs: build $(HYPERQUEUE) ; scripts/slurm.sh deps && $(GO) run ./lab/gangs -berth $(BERTH) -hq $(HYPERQUEUE) -docs lab/results/gangs.md $(GANGS)

# The table of lab/results/load.md: what a coordinator holds, with two thousand workers that are a fake. About five minutes;
# LOAD has flags, "-workers 200" say.
load: build ; scripts/deps.sh chromium=chromium && $(GO) run ./lab/load -berth $(BERTH) -docs lab/results/load.md $(LOAD)

# Thirty rounds in which what an executor in Python consists of is killed, thirty with a workflow of Snakemake, lost nodes of a private Slurm,
# tests and workflows that others have written, a notebook, the pages' examples on a private Slurm, and all other tests of doors; about 45 minutes.
# DOORS_ROUNDS sets another number.
doors-soak: ; BERTH_DOORS=$$(scripts/doors.sh soak) BERTH_FAULT_ROUNDS=$${DOORS_ROUNDS:-30} $(GO) test -count=1 -timeout 2h -run Doors -v ./test

# A Slurm cluster of eight nodes on this machine, no root needed once Debian's packages are
# there: SLURM_DIR, SLURM_NODES, SLURM_CPUS, SLURM_MEM, SLURM_ACCT, SLURM_EXTRA; scripts/slurm.sh says more.
slurm-up: ; scripts/slurm.sh deps $${SLURM_ACCT:+acct} && scripts/slurm.sh up $(SLURM_DIR)
slurm-down: ; scripts/slurm.sh down $(SLURM_DIR)

# A Grid Engine of eight nodes on this machine, from Debian's packages; needs root: GE_DIR, GE_NODES, GE_SLOTS, GE_MEM;
# scripts/gridengine.sh says more.
gridengine-up: ; scripts/gridengine.sh deps && scripts/gridengine.sh up $(GE_DIR)
gridengine-down: ; scripts/gridengine.sh down $(GE_DIR)

# An OpenPBS of four nodes on this machine, from an installed one or the tarball BERTH_PBS_TARBALL; needs root: PBS_DIR, PBS_NODES,
# PBS_CPUS, PBS_MEM, PBS_EXTRA; scripts/pbs.sh says more.
pbs-up: ; scripts/pbs.sh deps && scripts/pbs.sh up $(PBS_DIR)
pbs-down: ; scripts/pbs.sh down $(PBS_DIR)

# Two hosts that ssh reaches, h1 and h2, on this machine; docs/ssh.md says what to do with them.
ssh-up: ; @scripts/deps.sh sshd=openssh-server ssh=openssh-client && $(GO) run ./lab/fleet -up 2
ssh-down: ; @$(GO) run ./lab/fleet -down

# The measured tables of lab/results/rented.md: predictions of berth front beside bags on machines of this machine with limited links and a limited data
# server. Needs root. Three turns of some eight minutes; FLEET has flags, "-quick" say.
fleet: build ; scripts/deps.sh sshd=openssh-server ssh=openssh-client ip=iproute2 tc=iproute2 /usr/bin/convert=imagemagick && $(GO) run ./lab/fleet -berth $(BERTH) -docs lab/results/rented.md $(FLEET)

clean: ; rm -rf bin
