import { constants, getPriority } from 'node:os'
import { expect, it } from 'vitest'
import { listHelperThreads, lowerHelperThreads } from './helper-threads.ts'
import { createLog } from './log.ts'

it.skipIf(process.platform !== 'linux')(
  "V8's helpers come after the main thread, whose priority stays",
  () => {
    const own = getPriority()
    const helpers = listHelperThreads()
    expect(helpers.length).toBeGreaterThan(0)
    lowerHelperThreads(createLog('silent'))
    expect(new Set(helpers.map((thread) => getPriority(thread)))).toEqual(
      new Set([constants.priority.PRIORITY_LOW]),
    )
    expect(getPriority()).toBe(own)
  },
)
