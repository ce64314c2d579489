sample lextrace-app-1
lextrace report lextrace-app-1 --columns calls,p50,p90,p95,p99.9,name,place --full-paths
