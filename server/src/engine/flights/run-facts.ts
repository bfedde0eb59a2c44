import type { Store } from '../../store/connection/db.ts'
import { RUN_FACTS } from '../sql/run-facts.ts'
import type { RunFacts } from './flight.ts'

const KEPT_RUNS = 1000
/** Facts of runs, read once. Those that ask at the same time for the same run wait for one statement. */
export function createRunFacts(store: Store): (orgId: string, runId: string) => Promise<RunFacts> | RunFacts {
  const known = new Map<string, Promise<RunFacts> | RunFacts>()
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
    if (known.size >= KEPT_RUNS) known.clear()
    const reading = read(org, run)
    known.set(run, reading)
    reading.catch(() => known.delete(run))
    return reading
  }
}
