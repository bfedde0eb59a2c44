import { testAtSmallSize } from './checks/small-size.ts'

testAtSmallSize([
  ['R5', '--rows 3 --brief --memory-mb 1024'],
  // The duration of /healthz depends on the machine. This test checks that it answers without a 5xx.
  ['R13', '--share 0.01 --health-ms 60000 --memory-mb 512'],
  // The time that the thread is held depends on the machine. This test checks that every shape ends properly
  // and that the neighbour continues.
  ['R21', '--mixtures 2 --each 45 --held-ms 60000 --seconds 300 --memory-mb 4096'],
  ['fuzz', '--each 2'],
])
