import type { Store } from '../../../database/connection/db.ts'
import { parseLossless } from '../../../lib/json/lossless-json.ts'
import { parseInTurns } from '../../../lib/json/parse-in-turns.ts'
import { toStorableJsonInSteps } from '../../../lib/json/storable.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import type { Mask } from '../../../lib/security/redaction.ts'
import { createBatcher } from '../../../lib/timing/batcher.ts'
import { inTurns } from '../../../lib/timing/turns.ts'

/** The JSON text of large outputs that the running cells of one process may hold, give or take one statement. */
const MAX_HELD = 32 * 1024 * 1024
/** The stored, compressed bytes that one statement reads. */
const MAX_READ = 256 * 1024

export type LargeOutputs = { org: string; row: string; actions: string[]; storedBytes: number }
/** JSON text by action, to be used until `release` is called. */
export type HeldOutputs = { texts: Map<string, string | null>; release: () => void }
export type ReadLargeOutputs = (wanted: LargeOutputs) => Promise<HeldOutputs>

type Read = { n: number; action: string; outputs: string | null }

const READ = `
select i.n, c.action, c.outputs::text as outputs
from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[]) as i (o, r, action, n)
join cells c on c.org_id = i.o and c.row_id = i.r and c.action = i.action`

/**
 * Creates a reader of large outputs, which claims do not read, for the cells that name them. A reader waits until
 * others have released enough. A cell that a holder waits for, as in the cache, has read its own outputs already.
 */
export function createLargeOutputs(store: Store, maxHeld = MAX_HELD): ReadLargeOutputs {
  let held = 0
  let onRelease: (() => void) | undefined

  async function waitForRoom(): Promise<void> {
    if (held < maxHeld) return
    await new Promise<void>((resolve) => (onRelease = resolve))
    await waitForRoom()
  }

  return createBatcher<LargeOutputs, HeldOutputs>({
    maxItems: MAX_READ,
    maxInFlight: 1,
    sizeOf: ({ storedBytes }) => storedBytes,
    isolates: () => true,
    async run(items) {
      await waitForRoom()
      const wanted = items.flatMap(({ org, row, actions }, n) =>
        actions.map((action) => ({ org, row, action, n })),
      )
      const rows = await store.query<Read>({
        name: 'engine-large-outputs',
        text: READ,
        values: [
          wanted.map(({ org }) => org),
          wanted.map(({ row }) => row),
          wanted.map(({ action }) => action),
          wanted.map(({ n }) => n),
        ],
      })
      return items.map((_, at) => {
        const own = rows.filter(({ n }) => n === at)
        const bytes = own.reduce((sum, { outputs }) => sum + (outputs?.length ?? 0), 0)
        held += bytes
        return {
          texts: new Map(own.map(({ action, outputs }) => [action, outputs])),
          release() {
            held -= bytes
            onRelease?.()
          },
        }
      })
    },
  })
}

type Outputs = Record<string, unknown>

/** Parses texts of outputs in turns with other work. */
export async function parseEach(texts: ReadonlyMap<string, string | null>): Promise<Map<string, Outputs>> {
  const values = new Map<string, Outputs>()
  for (const [action, text] of texts)
    if (text !== null) values.set(action, (await parseInTurns(text, parseLossless)) as Outputs)
  return values
}

/** The length of the JSON from which outputs are prepared in turns with other work. */
export const LARGE_OUTPUTS = 16 * 1024
/** The limit of a cell's outputs, as JSON. They are stored for good, and read by every cell that names them. */
const MAX_OUTPUTS = 16 * 1024 * 1024
export const TOO_LARGE = `The outputs take more than ${MAX_OUTPUTS / 1024 / 1024} MiB, which is the limit of a cell. Ask for less, or split it over several rows`

/**
 * Hides secrets in large outputs and prints them as they are stored, in turns with other work. Returns null if they are
 * too large.
 */
export async function prepareLarge(outputs: Outputs, mask: Mask | null): Promise<StoredJson | null> {
  const hidden = mask === null ? outputs : ((await mask.inLargeValue(outputs)) as Outputs)
  const text = await inTurns(toStorableJsonInSteps(hidden, MAX_OUTPUTS))
  return text === null ? null : new StoredJson(text, hidden)
}
