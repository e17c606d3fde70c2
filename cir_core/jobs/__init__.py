"""Long jobs over numbered work items: a journal that survives a kill, workers, budget, estimate."""
