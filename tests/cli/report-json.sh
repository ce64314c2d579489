sample lextrace-app-1 family
lextrace report lextrace-app-1 --json --top 2
