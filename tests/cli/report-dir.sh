sample some-run
lextrace report some-run/ --top 3
lextrace report some-run/testhost-5000000 -n 1
