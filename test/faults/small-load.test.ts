import { testAtSmallSize } from './checks/small-size.ts'

testAtSmallSize([
  // In which order things are done, not how long they take.
  ['R16', '--share 0.01 --rounds 1 --ratio 0'],
  // How much is answered is a matter of the machine; that the rest is refused in order is not.
  ['R10', '--seconds 2 --rounds 1 --goodput 0 --recovery-seconds 600'],
  // Memory settles over minutes; that nothing fails under mixed load is seen at once.
  ['R18', '--minutes 0.1 --slope-mb 100000 --callers 4'],
])
