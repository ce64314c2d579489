sample lextrace-app-1 monitoring
lextrace info
lextrace info --json | sed -n '/"modes"/,/"threads"/p'
