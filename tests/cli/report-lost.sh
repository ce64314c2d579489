sample lextrace-app-1 family
lextrace report lextrace-app-1 --top 2
lextrace report lextrace-app-1 --processes
lextrace report lextrace-app-1 --process 5000001
