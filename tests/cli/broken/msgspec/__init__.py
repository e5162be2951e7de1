raise RuntimeError("broken on purpose: a test puts this before the real one")
