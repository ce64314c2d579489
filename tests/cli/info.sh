sample lextrace-app-1
lextrace info lextrace-app-1
