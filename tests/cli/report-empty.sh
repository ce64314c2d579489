sample lextrace-app-1 empty
lextrace report
lextrace report --tree
lextrace view
