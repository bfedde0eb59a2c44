import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)

/**
 * Creates a test of each fault program at a small size. The program must end with the line that reports that
 * all checks held.
 */
export function testAtSmallSize(programs: readonly (readonly [fault: string, flags: string])[]): void {
  it.each(programs)('%s holds at a small size', { timeout: 600_000 }, async (fault, flags) => {
    const args = [`test/faults/${fault.toLowerCase()}.ts`, ...flags.split(' ')]
    const { stdout } = await run(process.execPath, args, { timeout: 590_000 }).catch(
      (failed: { stdout: string }) => failed,
    )
    expect(stdout.trimEnd().split('\n').at(-1), stdout).toMatch(new RegExp(`^${fault}: held, \\d+ checks$`))
  })
}
