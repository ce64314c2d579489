sample lextrace-app-1
lextrace view lextrace-app-1 --limit 12
lextrace view lextrace-app-1 --date --gmt --match loads
lextrace view lextrace-app-1 --thread Worker-1 --event '*unwind' --json
lextrace view lextrace-app-1 --event '*:c_call_*' --to 0.0007 --from 14:13:20.0006
lextrace view lextrace-app-1 --limit 1 --color always
