sample lextrace-app-1
lextrace report lextrace-app-1 --own
