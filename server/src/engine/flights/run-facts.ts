import { LRUCache } from 'lru-cache'
import type { Store } from '../../store/connection/db.ts'
import { RUN_FACTS } from '../sql/run-facts.ts'
import type { RunFacts } from './flight.ts'

/** Facts of runs, read once. Those that ask at the same time for the same run wait for one statement. */
export function createRunFacts(store: Store): (orgId: string, runId: string) => Promise<RunFacts> | RunFacts {
  const known = new LRUCache<string, Promise<RunFacts> | RunFacts>({ max: 1000 })
  const read = async (org: string, run: string): Promise<RunFacts> => {
    const [facts] = await store.query<RunFacts>({
      name: 'engine-run-facts',
      text: RUN_FACTS,
      values: [org, run],
    })
    if (facts === undefined) throw new Error(`run ${run} is gone`)
    known.set(run, facts)
    return facts
  }
  return (org, run) => {
    const facts = known.get(run)
    if (facts !== undefined) return facts
    const reading = read(org, run)
    known.set(run, reading)
    reading.catch(() => known.delete(run))
    return reading
  }
}
