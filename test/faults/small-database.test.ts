import { testAtSmallSize } from './checks/small-size.ts'

testAtSmallSize([
  ['R2', '--seconds 3 --callers 3 --rows-a-call 3 --recovery-seconds 30'],
  ['R4', '--rounds 1 --sheets 3 --members 30'],
  ['R7', '--rounds 1 --seconds 1 --megabytes 200 --hang-seconds 300'],
])
