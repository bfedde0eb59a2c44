import type { Surroundings } from '../catalog/warnings.ts'
import { listConnectionsOfSheet } from '../store/connections.ts'
import type { Db } from '../store/db.ts'
import { listEnvOfSheet } from '../store/env-variables.ts'
import type { SheetRecord } from '../store/sheets.ts'

/** What a sheet can draw on, as far as its configuration is judged: which keys and how many connections, no value. */
export async function readSurroundings(db: Db, sheet: SheetRecord): Promise<Surroundings> {
  const [env, connections] = [await listEnvOfSheet(db, sheet), await listConnectionsOfSheet(db, sheet)]
  return {
    envKeys: new Set(env.map(({ key }) => key)),
    connectionsOf: (wanted) => connections.filter(({ provider }) => provider === wanted).length,
  }
}
