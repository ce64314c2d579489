sample lextrace-app-1
lextrace report lextrace-app-1 --tree
lextrace report lextrace-app-1 --tree --imports --min 0 --ascii
lextrace report lextrace-app-1 --tree --depth 3
lextrace report lextrace-app-1 --tree --root Solver.step --min 0
