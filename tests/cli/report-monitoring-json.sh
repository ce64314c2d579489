sample lextrace-app-1 monitoring
lextrace report --json --top 1
lextrace report --json --threads | sed -n '/by_thread/,$p'
