"""Where pairs are found: this process, its cores, or a cluster.

An engine is a standard ``concurrent.futures.Executor``; the functions it runs take and give plain
arrays. All of them apply ``pairs`` and ``rules`` and add nothing to them.
"""
