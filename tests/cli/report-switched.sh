sample lextrace-app-1 switched
lextrace report
lextrace report --tree --imports
lextrace view --gmt
lextrace view --gmt --json --event '*:mode'
lextrace export --quiet --to folded -o -
