sample lextrace-app-1
TZ=JST-9 lextrace view lextrace-app-1 --limit 1 --date
TZ=JST-9 lextrace view lextrace-app-1 --limit 1 --date --gmt
TZ=JST-9 lextrace view lextrace-app-1 --limit 1 --from 23:13:20.001
