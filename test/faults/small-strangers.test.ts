import { testAtSmallSize } from './checks/small-size.ts'

testAtSmallSize([
  ['R5', '--rows 3 --brief --memory-mb 1024'],
  // How long /healthz takes is a matter of the machine; that it answers, and no 5xx, is not.
  ['R13', '--share 0.01 --health-ms 60000 --memory-mb 512'],
  // How long the thread is held is a matter of the machine; that every shape ends in order, and the neighbour goes on, is not.
  ['R21', '--mixtures 2 --each 45 --held-ms 60000 --seconds 300 --memory-mb 4096'],
  ['fuzz', '--each 2'],
])
