import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

// Small versions of R1, R3 and R6 are in server/src/runs/engine/recovery.test.ts, which needs no PostgreSQL of its own.
it.each([
  ['R2', '--seconds 3 --callers 3 --recovery-seconds 30'],
  ['R4', '--rounds 1 --sheets 3 --members 30'],
  ['R7', '--rounds 1 --seconds 1 --megabytes 200 --hang-seconds 300'],
  // How much is answered is a matter of the machine; that the rest is refused in order is not.
  ['R10', '--seconds 2 --rounds 1 --goodput 0 --recovery-seconds 600'],
  // How long a start takes is a matter of the machine; that it finds everything is not.
  ['R12', '--rounds 1 --start-seconds 600'],
  ['endings', '--rounds 2 --rows 60'],
  ['R17', '--rows 300 --kills 2 --seconds-a-kill 60'],
  ['R9', '--rounds 1 --rows 100 --slow-seconds 1 --callers 6 --only whole'],
  ['R5', '--rows 3 --brief --memory-mb 1024'],
  // How long /healthz takes is a matter of the machine; that it answers, and no 5xx, is not.
  ['R13', '--share 0.01 --health-ms 60000 --memory-mb 512'],
  // Memory settles over minutes; that nothing fails under mixed load is seen at once.
  ['R18', '--minutes 0.1 --slope-mb 100000 --callers 4'],
  // How long the thread is held is a matter of the machine; that every shape ends in order, and the neighbour goes on, is not.
  ['R21', '--mixtures 2 --each 45 --held-ms 60000 --seconds 300 --memory-mb 4096'],
  ['fuzz', '--each 2'],
  // In which order things are done, not how long they take.
  ['R16', '--share 0.01 --rounds 1 --ratio 0'],
  ['segments', '--members 100 --rounds 1'],
  ['money', '--runs 3 --rows 12 --kills 1 --workers 2'],
  ['M1', '--runs 2 --rows 30 --kills 1 --workers 2'],
])('%s holds at a small size', { timeout: 600_000 }, async (fault, flags) => {
  const args = [`test/faults/${fault.toLowerCase()}.ts`, ...flags.split(' ')]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 590_000 }).catch(
    (failed: { stdout: string }) => failed,
  )
  expect(stdout.trimEnd().split('\n').at(-1), stdout).toMatch(new RegExp(`^${fault}: held, \\d+ checks$`))
})
