# Runs jobs of batchtools, and futures of future.batchtools, as tasks of berth. The page docs/r.md says how.

#' Cluster functions for berth.
#'
#' The jobs of an R session are tasks of one open bag of berth, which is made for the first of them and gets no more once the session ends.
#' Their batch ids are BAG/TASK, so another session finds them, too.
#'
#' Resources of a job mean what they mean in the templates of batchtools for Slurm: ncpus, memory (in MB for each of these, or text as in
#' "4G" for all of them), walltime (in seconds, or text as in "2h"), ngpus, ntasks. Others that are given to berth as they are: gpus, time,
#' mem, cpus, ranks, ranks_per_node, retries, use, application (berth's page on open bags).
#'
#' @param options arguments for "berth bag" before the jobs, as c("--on", "slurm", "-p", "any").
#' @param berth   the program, or where it is.
#' @param fs.latency as of all cluster functions: for how many seconds a file of a job may stay unseen on a shared file system.
#' @return an object of batchtools' class ClusterFunctions.
makeClusterFunctionsBerth = function(options = character(), berth = Sys.getenv("BERTH", "berth"), fs.latency = 65) {
  session = new.env(parent = emptyenv()) # has bag, the open one of this session, and pid, of the process that made it

  call = function(...) {
    errors = tempfile("berth")
    on.exit(unlink(errors))
    printed = tryCatch(suppressWarnings(system2(berth, shQuote(c(...)), stdout = TRUE, stderr = errors)),
      error = function(e) stop(sprintf("%s cannot be run: put berth on PATH, or say where it is with the argument berth or the variable BERTH", berth), call. = FALSE))
    code = attr(printed, "status")
    list(code = if (is.null(code)) 0L else code, printed = as.character(printed), said = paste(readLines(errors, warn = FALSE), collapse = "\n"))
  }

  close = function(session) {
    if (!is.null(session$bag) && session$pid == Sys.getpid()) # a forked process has the bag of its parent
      call("close", session$bag)
  }
  reg.finalizer(session, close, onexit = TRUE)

  # add adds tasks to a bag, and returns their batch ids, too, or what berth says.
  add = function(bag, lines) {
    file = tempfile("berth")
    on.exit(unlink(file))
    writeLines(enc2utf8(lines), file, useBytes = TRUE)
    added = call("add", bag, "--tasks", file, "--json")
    if (added$code == 0L) # it has printed {"added":[0,1]}
      added$ids = sprintf("%s/%d", bag, 1L + as.integer(unlist(regmatches(added$printed, gregexpr("[0-9]+", added$printed)))))
    added
  }

  # tasks adds tasks to the bag of this session, or to a new one if that is over.
  tasks = function(lines) {
    if (!is.null(session$bag) && session$pid == Sys.getpid()) {
      added = add(session$bag, lines)
      if (added$code == 0L || !grepl("the job is over|gets no more tasks|no job", added$said))
        return(added)
    }
    opened = call("bag", "--open", "-J", "batchtools", options)
    if (opened$code != 0L)
      return(opened)
    session$bag = opened$printed[length(opened$printed)]
    session$pid = Sys.getpid()
    add(session$bag, lines)
  }

  submitJob = function(reg, jc) {
    batchtools::assertRegistry(reg, writeable = TRUE)
    needs = berthNeeds(jc$resources)
    one = function(log, env = NULL) {
      command = sprintf("exec %s -e %s 2>&1", shQuote(file.path(R.home("bin"), "Rscript")), shQuote(sprintf("batchtools::doJobCollection(%s)", berthText(jc$uri))))
      berthObject(c(list(command = command, stdout = log), needs, env))
    }
    if (isTRUE(jc$array.jobs)) {
      n = seq_len(nrow(jc$jobs))
      logs = sprintf("%s_%i", jc$log.file, n)
      lines = vapply(n, function(i) one(logs[i], list(env = berthObject(list(BERTH_BATCHTOOLS_JOB = as.character(i))))), "")
    } else {
      logs = NA_character_
      lines = one(jc$log.file)
    }
    added = tasks(lines)
    if (added$code != 0L)
      return(batchtools::makeSubmitJobResult(status = 101L, batch.id = NA_character_, msg = added$said))
    batchtools::makeSubmitJobResult(status = 0L, batch.id = added$ids, log.file = basename(logs))
  }

  # inState returns the batch ids of the registry's jobs of which berth says one of these words.
  inState = function(reg, words) {
    status = reg$status
    ids = unique(status$batch.id[!is.na(status$batch.id) & is.na(status$done)])
    ids = grep("^[^/]+/[0-9]+$", ids, value = TRUE)
    parts = split(ids, paste(dirname(ids), (seq_along(ids) - 1L) %/% 5000L)) # the length of a command line has a limit
    unlist(lapply(parts, function(part) {
      said = call("status", dirname(part[1L]), basename(part))
      if (said$code != 0L) {
        if (grepl("no job ", said$said))
          return(character()) # berth has forgotten it
        stop(sprintf("berth does not say how jobs are: %s", said$said), call. = FALSE)
      }
      part[said$printed %in% words]
    }), use.names = FALSE)
  }

  killJob = function(reg, batch.id) {
    batchtools::assertRegistry(reg, writeable = TRUE)
    said = call("cancel", dirname(batch.id), "--task", basename(batch.id))
    if (said$code != 0L && !grepl("over", said$said))
      stop(sprintf("berth does not cancel job %s: %s", batch.id, said$said), call. = FALSE)
    said$code == 0L
  }

  batchtools::makeClusterFunctions(name = "Berth", submitJob = submitJob, killJob = killJob,
    listJobsQueued = function(reg) inState(reg, "waiting"), listJobsRunning = function(reg) inState(reg, "running"),
    array.var = "BERTH_BATCHTOOLS_JOB", store.job.collection = TRUE, store.job.files = FALSE, scheduler.latency = 0, fs.latency = fs.latency)
}

# berthNeeds returns the keys of a task for the resources of a job. Those that it does not know and batchtools does not use itself are named.
berthNeeds = function(resources) {
  number = function(value) format(value, scientific = FALSE, trim = TRUE)
  own = c("measure.memory", "chunks.as.arrayjobs", "pp.size", "pm.backend", "pm.opts", "foreach.backend", "blas.threads", "omp.threads", "rscript")
  needs = list()
  for (name in names(resources)) {
    value = resources[[name]]
    if (is.null(value) || length(value) == 0L)
      next
    switch(name,
      ncpus = , cpus = needs$cpus <- as.integer(value),
      ntasks = , ranks = needs$ranks <- as.integer(value),
      ngpus = , gpus = needs$gpus <- value,
      memory = needs$mem <- if (is.numeric(value)) paste0(number(ceiling(value * max(1, resources$ncpus))), "M") else value,
      mem = needs$mem <- if (is.numeric(value)) paste0(number(value), "M") else value,
      walltime = , time = needs$time <- if (is.numeric(value)) paste0(number(value), "s") else value,
      retries = , ranks_per_node = needs[[name]] <- as.integer(value),
      use = , application = needs[[name]] <- value,
      if (!name %in% own)
        warning(sprintf("berth does not know the resource %s, which has no effect", name), call. = FALSE))
  }
  needs
}

# berthText returns a text of JSON.
berthText = function(value) {
  value = gsub("([\"\\\\])", "\\\\\\1", enc2utf8(value))
  sprintf("\"%s\"", gsub("\t", "\\\\t", gsub("\n", "\\\\n", value)))
}

# berthObject returns an object of JSON. Text that is one already stays as it is.
berthObject = function(values) {
  texts = vapply(values, function(v) if (inherits(v, "berthJSON")) unclass(v) else if (is.numeric(v)) format(v, scientific = FALSE) else berthText(v), "")
  structure(sprintf("{%s}", paste(sprintf("%s:%s", berthText(names(values)), texts), collapse = ",")), class = "berthJSON")
}
