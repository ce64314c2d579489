sample lextrace-app-1
lextrace view --event 'foo*'
echo $?
lextrace view --from noon
echo $?
lextrace view --limit x
echo $?
lextrace view --match nosuch_at_all
