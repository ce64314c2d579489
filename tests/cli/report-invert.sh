sample lextrace-app-1
lextrace report lextrace-app-1 --invert --min 3
