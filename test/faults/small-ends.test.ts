import { testAtSmallSize } from './checks/small-size.ts'

testAtSmallSize([
  ['endings', '--rounds 2 --rows 60'],
  ['R9', '--rounds 1 --rows 100 --slow-seconds 1 --callers 6 --only whole'],
])
