sample lextrace-app-1 family
lextrace info lextrace-app-1 --json --packets
