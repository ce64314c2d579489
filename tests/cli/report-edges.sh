sample lextrace-app-1
lextrace report lextrace-app-1 --callers fib
lextrace report lextrace-app-1 --callees Solver.step
lextrace report lextrace-app-1 --callers 'solver.py:*' --top 1
lextrace report lextrace-app-1 --callees nosuch
