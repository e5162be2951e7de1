"""What each memory order costs on a machine.

In: programs and a machine. Out: Costs, nanoseconds per execution of an operation, with confidence
intervals; and the prices by which `relax` ranks what suffices.
"""
