sample lextrace-app-1 onesided
lextrace report
lextrace report --json --match Solver.step | sed -n '/"functions"/,/others/p'
lextrace report --tree --min 0
lextrace export --quiet --to chrome -o - | grep -c '"ended":"point"'
