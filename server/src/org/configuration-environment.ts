import type { ConfigurationEnvironment } from '../catalog/configuration/warnings.ts'
import type { Db } from '../store/connection/db.ts'
import { listEnvironmentNames } from '../store/organisation/environment-names.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'

/** What a sheet can draw on, as far as its configuration is judged: which keys and how many connections, no value. */
export async function readConfigurationEnvironment(
  db: Db,
  sheet: SheetRecord,
): Promise<ConfigurationEnvironment> {
  const { env_keys, providers } = await listEnvironmentNames(db, sheet)
  return {
    envKeys: new Set(env_keys),
    connectionsOf: (wanted) => providers.filter((provider) => provider === wanted).length,
  }
}
