sample lextrace-app-1 monitoring
lextrace report
lextrace report --threads
lextrace report --thread Worker-1 --sort p99
lextrace report --tree
lextrace report --callers fib lextrace-app-1
lextrace export --to chrome
ls
lextrace export --to pstats
