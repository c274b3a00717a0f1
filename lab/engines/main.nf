// params: jobs, layers (1 or 3), seconds (of the jobs, one after the other, with commas), dir
def seconds = params.seconds.toString().tokenize(',')
def n = params.jobs as int
def layered = (params.layers as int) == 3
process a {
    memory '500 MB'
    time '10m'
    input: tuple val(i), val(s)
    output: path "a$i"
    script: "begun=\$(date +%s.%N); sleep $s; echo \$begun \$(date +%s.%N) > a$i; cp a$i ${params.dir}"
}
process b {
    memory '500 MB'
    time '10m'
    input: path x
    output: path "b.$x"
    script: "begun=\$(date +%s.%N); sleep ${seconds[0]}; echo \$begun \$(date +%s.%N) > b.$x; cp b.$x ${params.dir}"
}
process c {
    memory '500 MB'
    time '10m'
    input: path x
    output: path "c.${x[0]}"
    script: "begun=\$(date +%s.%N); sleep ${seconds[0]}; echo \$begun \$(date +%s.%N) > c.${x[0]}; cp c.${x[0]} ${params.dir}"
}
workflow {
    first = a(channel.of(0..<(layered ? n.intdiv(2) : n)).map { i -> [i, seconds[i % seconds.size()]] })
    if (layered) b(first.take(2 * n.intdiv(5))) | buffer(size: 4) | c
}
