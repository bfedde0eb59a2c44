import { LRUCache } from 'lru-cache'
import type { Store } from '../../../database/connection/db.ts'
import { RUN_FACTS } from '../../../database/queue/run-facts.ts'
import type { RunFacts } from './flight.ts'

const BY_KEY = `${RUN_FACTS}
where r.org_id = $1 and r.run_id = $2`

/** Reads facts of runs, once each. Callers that ask at the same time for the same run share one statement. */
export type RunFactsReader = {
  of(orgId: string, runId: string): Promise<RunFacts>
  /** Keeps facts that were read elsewhere. */
  remember(facts: RunFacts): void
}

export function createRunFacts(store: Store): RunFactsReader {
  const known = new LRUCache<string, Promise<RunFacts>>({ max: 1000 })
  const read = async (org: string, run: string): Promise<RunFacts> => {
    const [facts] = await store.query<RunFacts>({
      name: 'engine-run-facts',
      text: BY_KEY,
      values: [org, run],
    })
    if (facts === undefined) throw new Error(`run ${run} is gone`)
    return facts
  }
  return {
    of(org, run) {
      const facts = known.get(run)
      if (facts !== undefined) return facts
      const reading = read(org, run)
      known.set(run, reading)
      reading.catch(() => known.delete(run))
      return reading
    },
    remember: (facts) => void known.set(facts.run_id, Promise.resolve(facts)),
  }
}
