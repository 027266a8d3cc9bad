"""Where pairs are found: in this process, or on its cores.

What an engine runs are functions from plain data to plain arrays, handed to a standard
``concurrent.futures.Executor``. They apply ``pairs`` and ``rules`` and add nothing to them.
"""
