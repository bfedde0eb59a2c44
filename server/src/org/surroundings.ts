import type { Surroundings } from '../catalog/warnings.ts'
import type { Db } from '../store/db.ts'
import type { SheetRecord } from '../store/sheets.ts'

/** What a sheet can draw on. Organisations can have neither environment variables nor connections yet. */
export async function readSurroundings(_db: Db, _sheet: SheetRecord): Promise<Surroundings> {
  return { envKeys: new Set(), connectionsOf: () => 0 }
}
