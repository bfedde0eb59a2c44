import { createSlots } from '../../../lib/timing/slots.ts'
import { askedOf, type CellCache } from '../../engine/cells/cache.ts'
import type { Engine } from '../../engine/engine-context.ts'
import { TESTS_AT_ONCE } from '../../store/cell-tests.ts'

const STAYS = 'a test does not change rows or records. Run the row to do it'
const refuse = async () => ({ ok: false as const, message: STAYS })

/**
 * Returns the engine as tests use it: the same calls, keys, gates and reservations, but nothing of the organisation is
 * changed, and the cache is read without waiting for other rows.
 */
export function forTests(engine: Engine): Engine {
  const cache: CellCache = {
    look: (asked, express) => engine.cache.look(asked, express),
    async find(flight, instance, key, { express }) {
      const [hit = null] = await engine.cache.look([askedOf(flight, instance, key)], express)
      return hit === null ? { kind: 'miss' } : { kind: 'hit', ...hit }
    },
  }
  return {
    ...engine,
    cache,
    slots: { ...engine.slots, express: createSlots(TESTS_AT_ONCE) },
    sheetsFor: (flight, signal, database) => ({
      ...engine.sheetsFor(flight, signal, database),
      append: refuse,
      deleteThisRow: () => Promise.resolve(),
      judgeUnique: (values) =>
        engine.sheetsFor(flight, signal, database).judgeUnique({ ...values, waitedEnough: true }),
    }),
    recordsFor: (flight, database) => ({
      lookup: (query) => engine.recordsFor(flight, database).lookup(query),
      ingest: refuse,
      update: refuse,
      relate: refuse,
    }),
  }
}
