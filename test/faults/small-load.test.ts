import { testAtSmallSize } from './checks/small-size.ts'

testAtSmallSize([
  // This test checks the order of the work, not its duration.
  ['R16', '--share 0.01 --rounds 1 --ratio 0 --poll 50'],
  // The number of responses depends on the machine. This test checks that the rest is refused properly.
  ['R10', '--seconds 2 --rounds 1 --goodput 0 --recovery-seconds 600'],
  // Memory settles over minutes. This test checks that nothing fails under mixed load.
  ['R18', '--minutes 0.1 --slope-mb 100000 --callers 4'],
])
