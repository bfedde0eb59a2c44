import { FAST_PARTS, type FastPart, readFastParts } from '#server/lib/fast-parts.ts'
import type { ServerStart } from '#test/plumbing/installation.ts'
import { FLAGS } from '#test/plumbing/server-process.ts'

/** The flags of `npm start` that exist for speed, by the name of the part that each of them is. */
const FLAG_PARTS: Record<string, string> = {
  'v8-pool-size': '--v8-pool-size',
  'v8-pretenuring': '--no-allocation-site-pretenuring',
  'v8-scavenge': '--no-parallel-scavenge',
  'v8-semi-space': '--max-semi-space-size',
}

/** Returns how a server is started without these parts: fast parts, and flags of `npm start`. */
export function startWithout(names: readonly string[]): Required<ServerStart> {
  const parts = names.filter((name) => FLAG_PARTS[name] === undefined)
  const known: FastPart[] = readFastParts(parts.join())
  const without = names.flatMap((name) => FLAG_PARTS[name] ?? [])
  const flags = FLAGS.filter((flag) => !without.some((start) => flag.startsWith(start)))
  return { env: { LOAM_WITHOUT: known.join() }, flags }
}

/** Lists the names of all parts. */
export const listParts = (): string[] => [...Object.keys(FAST_PARTS), ...Object.keys(FLAG_PARTS)]
