import { testAtSmallSize } from './checks/small-size.ts'

// Small versions of R1, R3 and R6 are in server/src/runs/engine/recovery.test.ts, which needs no separate
// PostgreSQL.
testAtSmallSize([
  // The duration of a start depends on the machine. This test checks that the start finds everything.
  ['R12', '--rounds 1 --start-seconds 600'],
  ['R17', '--rows 300 --kills 2 --seconds-a-kill 60'],
  ['segments', '--members 100 --rounds 1'],
  ['money', '--runs 3 --rows 12 --kills 1 --workers 2'],
  ['M1', '--runs 2 --rows 30 --kills 1 --workers 2'],
])
