sample lextrace-app-1
lextrace report
