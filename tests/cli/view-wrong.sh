sample lextrace-app-1
lextrace view --event 'foo*'
echo $?
lextrace view --event function_beginn
echo $?
lextrace view --from 99
echo $?
lextrace view -n x
echo $?
lextrace view --from noon
echo $?
lextrace view --limit x
echo $?
lextrace view --match nosuch_at_all
