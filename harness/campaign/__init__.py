"""From questions to stored answers: plan → jobs → executor → store.

In: what the user names (as Material), models, checkers, runners, machines, limits. Out: answers,
one by one as they become known, and a Record of all that a store holds.

    plan       which questions there are, and which are skipped, with the reason
    jobs       one question as a value: its key, and how to perform it; exploration_jobs,
               check_jobs and machine_jobs: those of every command
    executor   performs the jobs that a store does not hold; progress, time limits, Ctrl-C
    store      the protocol of stores, and the store in memory; folder: a campaign's folder
    iteration  a store whose answers can be iterated over while they become known
    rounds     asks what is due, round by round: what follows from answers comes next
    campaign   a plan while it is carried out, phase by phase; folder_run: with a folder
    tools      what the names in a plan stand for

A new executor is a class with the method `run` of executor.Executor: it takes jobs as values and
hands answers back one by one. A new store is a class with the members of store.Store (of
store.RecordStore where a Record is to be made of it). A new kind of question is a subclass of
jobs.Job. None of them needs a change in the others.
"""
