import { loadCatalogue } from '#server/catalog/registry.ts'
import { openStore } from '#server/database/connection/db.ts'
import { readConfig } from '#server/lib/config/config.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { openOutside } from '#server/process/outside.ts'
import { startWork } from '#server/process/work.ts'
import { WORKING } from '#server/runs/engine/testing/worker-child.ts'
import { loadSources } from '#server/sources/registry.ts'
import { openStorage } from '../storage/open-storage.ts'

/** Runs a worker that a test may kill and whose death is noticed soon. Arguments: database URL, data folder. */
const [databaseUrl = '', LOAM_DATA_DIR = ''] = process.argv.slice(2)
const config = readConfig({ LOAM_DATA_DIR, LOAM_CONCURRENCY: '20' })
const log = createLog(process.env['LOAM_TEST_LOG'] ?? 'silent')
const store = openStore({ url: databaseUrl, log, connections: 6 })
await startWork({
  config,
  log,
  databaseUrl,
  store,
  storage: openStorage(config),
  sealer: createSealer('a secret for tests only'),
  catalogue: await loadCatalogue(),
  sources: await loadSources(),
  outside: await openOutside({ config, log, store }),
  silenceMs: 1500,
})
process.stdout.write(`${WORKING}\n`)
