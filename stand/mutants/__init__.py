"""The catalogue of `make mutations`: every protection the proof rests on, and how it is taken out."""

from . import actions, approvals, cases, pausing, tasks

#: What must have a mutation of its own (issue 3, point 7).
PROTECTIONS = (
    "unique intake",
    "version check",
    "digest check at decision",
    "digest check in begin_call",
    "re-read of facts",
    "key for life",
    "call recorded before sending",
    "attempt counted before work",
    "fence in settlement",
    "task written in the same transaction",
    "selection by status",
    "database clock",
    "read-back before CONFIRMED",
    "one decisive decision",
    "subject lock",
    "reserve before reading",
    "lock in begin_call against withdrawal",
    "gate against a pause",
    "look-up first on take-over",
    "doubt guard on new proposals",
    "pause check",
)

MUTATIONS = (*cases.MUTATIONS, *tasks.MUTATIONS, *approvals.MUTATIONS, *actions.MUTATIONS, *pausing.MUTATIONS)
