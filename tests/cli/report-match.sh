sample lextrace-app-1
lextrace report lextrace-app-1 --match 'Solver.*'
lextrace report lextrace-app-1 --match 'json/*.py:*'
lextrace report lextrace-app-1 --match 'Solvr.*'
