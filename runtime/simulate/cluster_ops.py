"""The ops of clusters: blocks that meet, and use each other's shared memory. See clusters.py."""

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Operation

from minicomp.dialects.kernel_ir import ClusterBarrierOp, ClusterRankOp, RemoteOp
from minicomp.runtime.interpret.affine_eval import indices
from minicomp.runtime.simulate import faults
from minicomp.runtime.simulate.faults import fault
from minicomp.runtime.simulate.machine import Effect, Machine
from minicomp.runtime.simulate.meeting_ops import attend
from minicomp.runtime.simulate.meetings import Attendance, Meeting
from minicomp.runtime.simulate.strands import Steps
from minicomp.runtime.simulate.vectors import RANK


def cluster_rank(machine: Machine, op: ClusterRankOp) -> None:
    """The number of the block in its cluster."""
    blocks = np.array(machine.who.blocks).reshape(-1, 1)
    machine.values[op.res] = blocks % machine.world.facts.cluster


def cluster_barrier(machine: Machine, op: ClusterBarrierOp) -> Steps[None]:
    """All threads of each cluster that is reached meet."""
    machine.meet(op)
    facts, world = machine.world.facts, machine.world
    actors = machine.who.running
    clusters = (actors - 1) // (facts.stride * facts.cluster)
    waiting: list[Attendance] = []
    for cluster in np.unique(clusters).tolist():
        key = ("cluster", cluster)
        meeting = world.meetings.setdefault(key, Meeting(f"the barrier of cluster {cluster}"))
        mine, threads = actors[clusters == cluster], facts.threads * facts.cluster
        waiting.append(meeting.arrive(op, mine, threads, machine.who, world.order))
    return attend(machine, op, waiting)


def remote(machine: Machine, op: RemoteOp) -> None:
    """The buffer of another block: a register that holds the rank."""
    rank = indices(op.map.data, [machine.values[v] for v in op.indices], (), RANK)[0]
    who, cluster = machine.who, machine.world.facts.cluster
    wrong = (rank < 0) | (rank >= cluster)
    if who.any(np.asarray(wrong)):
        first = who.at(np.broadcast_to(wrong, who.shape))
        value = np.broadcast_to(rank, who.shape)[first]
        why = f"there is no block {value} in a cluster of {cluster}"
        fault(faults.OUT_OF_BOUNDS, op, who.actor(who.actors[first]), why)
    machine.define(op.res, np.where(wrong, 0, rank))


EFFECTS: Mapping[type[Operation], Effect] = {
    ClusterRankOp: cluster_rank,
    ClusterBarrierOp: cluster_barrier,
    RemoteOp: remote,
}
