sample lextrace-app-1 torn
lextrace report lextrace-app-1 --top 1
