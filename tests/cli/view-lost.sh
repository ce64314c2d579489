sample lextrace-app-1 family
lextrace view lextrace-app-1 --process 5000001 --limit 2
lextrace view lextrace-app-1 --match mian
