"""What the resources of a job mean for its task and its bag: the same as for snakemake-executor-plugin-slurm 2.8."""

import os
import re
import shlex
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, Iterator, List, Set, Tuple

from snakemake_interface_common.exceptions import WorkflowError

_LEAST_MEM = 250  # MB, as each job loads Snakemake
#: Resources that are flags of the bag.
_FLAGS = {"slurm_partition": "-p", "slurm_account": "-A", "qos": "-q", "constraint": "-C"}
_CLUSTER = ("cluster", "clusters", "slurm_cluster")
#: Resources that are looked at, those that Snakemake gives to each job, and one that asks for what is done anyhow.
_KNOWN = {*_FLAGS, *_CLUSTER, "reservation", "slurm_extra", "gres", "gpu", "gpus", "gpu_model", "cpus_per_gpu", "cpus_per_task", "mem_mb",
          "mem_mb_per_cpu", "runtime", "mpi", "nodes", "tasks", "ntasks", "tasks_per_node", "ntasks_per_node",
          "tmpdir", "mem", "mem_mib", "disk", "disk_mb", "disk_mib", "slurm_requeue"}
#: The options of sbatch that are not taken from slurm_extra, by the resources that say the same.
_OPTIONS = {
    "slurm_account": "--account -A", "slurm_partition": "--partition -p", "qos": "--qos -q", "constraint": "--constraint -C",
    "clusters": "--clusters --cluster -M", "runtime": "--time -t", "mem_mb": "--mem", "mem_mb_per_cpu": "--mem-per-cpu", "nodes": "--nodes -N",
    "tasks": "--ntasks -n", "tasks_per_node": "--ntasks-per-node", "cpus_per_task": "--cpus-per-task -c", "gres": "--gres",
    "gpu": "--gpus -G --gpus-per-node --gpus-per-task", "cpus_per_gpu": "--cpus-per-gpu",
}
_GPUS = re.compile(r"gpu(?::([^:]*[^:\d][^:]*))?(?::(\d+))?")  # of gres


@dataclass(frozen=True)
class Place:
    """Where jobs run. Those with the same place are tasks of one bag."""

    flags: Tuple[str, ...]
    cluster: str
    said: Tuple[str, ...] = field(compare=False)  # the resources that say it


def place_of(rule: str, resources: Any) -> Place:
    """Returns the place of a job. Raises an error for arguments of sbatch that cannot be passed on."""
    said = {key: str(resources.get(key)) for key in (*_FLAGS, *_CLUSTER, "reservation", "slurm_extra") if resources.get(key)}
    if "slurm_account" in said:  # the first one of a list
        said["slurm_account"] = re.split(r"[,\s]+", said["slurm_account"].strip(", "))[0]
    gres = ",".join(g for g in _items(resources) if not _GPUS.fullmatch(g))
    if gres:
        said["gres"] = gres
    flags = [word for key, flag in _FLAGS.items() if key in said for word in (flag, said[key])]
    flags += [f"--sbatch-arg=--{key}={said[key]}" for key in ("reservation", "gres") if key in said]
    flags += [f"--sbatch-arg={arg}" for arg in _arguments(rule, said.get("slurm_extra", ""))]
    return Place(tuple(flags), next((said[key] for key in _CLUSTER if key in said), ""), tuple(said))


def _arguments(rule: str, extra: str) -> List[str]:
    """Returns the options of slurm_extra, each with its value."""
    options: List[str] = []
    for word in shlex.split(os.path.expandvars(extra)):
        if word.startswith("-"):
            options.append(word)
        elif not options or "=" in options[-1]:
            raise WorkflowError(f"berth: slurm_extra={extra!r} of rule {rule}: {word!r} belongs to no option of sbatch; write --OPTION=VALUE")
        else:
            options[-1] += f"={word}" if options[-1].startswith("--") else word
    for option in options:
        name = option.partition("=")[0] if option.startswith("--") else option[:2]
        for resource, names in _OPTIONS.items():
            if name in names.split():
                raise WorkflowError(f"berth: slurm_extra={extra!r} of rule {rule}: {name} is not taken from there; write the resource {resource}")
    return [option for option in options if option != "--requeue"]  # tasks that were lost start again anyhow


def needs_of(job: Any) -> Dict[str, Any]:
    """Returns what the task of a job needs: each rank, if it has several."""
    resources = job.resources
    needs: Dict[str, Any] = {}
    ranks, on_node = ranks_of(resources)
    if job.is_group() and not resources.get("mpi"):  # whose jobs are all started on one node; its resources are sums
        ranks, on_node = 1, 1
    if ranks > 1:
        needs["ranks"] = ranks
        if on_node:
            needs["ranks_per_node"] = on_node
    gpus, share, kind = _gpus(resources, ranks, on_node or ranks)
    if gpus:
        each = gpus if gpus < 1 else 1 / -(-share // gpus) if gpus < share else -(-gpus // share)
        needs["gpus"] = f"{each:g}{kind}"
    cpus = number(resources, "cpus_per_task") or -(-number(resources, "cpus_per_gpu") * int(gpus) // share) or job.threads
    needs["cpus"] = cpus = max(cpus, job.threads) if job.is_group() else cpus
    per_cpu = max((number(r, "mem_mb_per_cpu") for r in _members(job)), default=0)
    mem = max(per_cpu * cpus * (on_node or ranks), number(resources, "mem_mb") if job.is_group() or not per_cpu else 0)  # of a node
    if mem:
        needs["mem"] = f"{-(-max(mem, _LEAST_MEM) // (on_node or ranks))}M"
    if number(resources, "runtime"):
        needs["time"] = f"{number(resources, 'runtime')}m"
    return needs


def _gpus(resources: Any, ranks: int, on_node: int) -> Tuple[float, int, str]:
    """Returns a number of GPUs, how many ranks have them together, and ":" with their type if that is given."""
    model = str(resources.get("gpu_model") or "")
    count, share = resources.get("gpu") or resources.get("gpus"), ranks
    for match in filter(None, map(_GPUS.fullmatch, [] if count else _items(resources))):
        model, count, share = match[1] or model, match[2] or 1, on_node
    try:
        return float(count or bool(model) and resources.get("gpu") is None), share, model and f":{model}"
    except ValueError:
        return 0, 1, ""


def _items(resources: Any) -> List[str]:
    return [item.strip() for item in str(resources.get("gres") or "").split(",") if item.strip()]


def _members(job: Any) -> Iterator[Any]:
    """Returns the resources of a job, or of each job in a group, as far as they do not depend on files that the group makes."""
    for one in job.jobs if job.is_group() else [job]:
        try:
            yield one.resources
        except (FileNotFoundError, WorkflowError):
            pass


def check_resources(rule: str, resources: Any) -> None:
    """Raises an error for a job that says it has several ranks, and not how many."""
    if resources.get("mpi") and ranks_of(resources)[0] == 1:
        raise WorkflowError(f"berth: the job of rule {rule} has mpi={resources.get('mpi')!r}; say with tasks, or with nodes and tasks_per_node, how many "
                            f"ranks it starts")


def unknown(resources: Any, limited: Iterable[str]) -> Set[str]:
    """Returns the resources of a job that do nothing: neither are they looked at, nor does Snakemake limit them."""
    return {key for key in resources.keys() - _KNOWN - set(limited) if not key.startswith("_")}


def ranks_of(resources: Any) -> Tuple[int, int]:
    """Returns how many ranks a job has, and how many of them each node has, 0 if that is not said: as Slurm would start them."""
    nodes, tasks, per_node = (next((n for n in (number(resources, key) for key in keys) if n > 0), 0)
                              for keys in (("nodes",), ("tasks", "ntasks"), ("tasks_per_node", "ntasks_per_node")))
    if not tasks:
        return max(1, nodes) * max(1, per_node), max(1, per_node)
    if not per_node and nodes:
        per_node = -(-tasks // nodes)
    return tasks, min(per_node, tasks)


def number(resources: Any, key: str) -> int:
    """Returns a resource as a number, or 0 if it is none above 0."""
    try:
        return max(0, int(resources.get(key) or 0))
    except (TypeError, ValueError):
        return 0
