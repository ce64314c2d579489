sample lextrace-app-1 family
printf "a note\nof two lines\n" >lextrace-app-1/notes
lextrace info lextrace-app-1
lextrace info lextrace-app-1 --packets | tail -n 5
