sample lextrace-app-1
lextrace report lextrace-app-1 --threads
lextrace report lextrace-app-1 --thread Worker-* --top 2
lextrace report lextrace-app-1 --thread 1 --tree
lextrace report lextrace-app-1 --thread 7
