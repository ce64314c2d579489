sample lextrace-app-1
for key in total calls mean p99 max name; do
	lextrace report lextrace-app-1 -s $key -n 3 | tail -n +4
done
