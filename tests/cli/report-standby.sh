sample lextrace-app-1 standby
lextrace report
lextrace info
