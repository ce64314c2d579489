sample lextrace-app-1
lextrace report nosuch
echo $?
mkdir prog empty
touch prog/app.py
lextrace report prog/
echo $?
lextrace info empty
echo $?
lextrace report --sort slef
echo $?
lextrace report --tree --threads
echo $?
lextrace report --min 5
echo $?
lextrace report --top -3
echo $?
lextrace report -n x
echo $?
lextrace report -s slef
echo $?
lextrace report -n
echo $?
lextrace report --process 77
echo $?
rm -r lextrace-app-1; lextrace report
