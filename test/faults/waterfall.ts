// Runs 10,000 rows through a waterfall over three local providers that answer 30%, 50% and 90% of the time.
// Calls, charges and results must be exactly what a plain model predicts.
// npm run test:waterfall [-- --rows 10000]
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { callOver } from '#test/builders/sheets.ts'
import { predict, readLedger, runRows, serveProviders } from '#test/builders/waterfall-model.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '10000' } } })
const rows = Number(values.rows)
const providers = await serveProviders()
const installation = await openInstallation()
try {
  const { orgId, key } = await installation.makeOrg('Waterfall', 10 * rows)
  const server = await installation.startServer(providers.settings)
  const { seconds } = await runRows(callOver(server.url, key), rows)
  const [expected, found] = [predict(rows), await readLedger(installation.store, orgId, providers.calls)]
  say(`${rows} rows in ${seconds.toFixed(1)} s`)
  for (const [id, calls] of Object.entries(expected.calls)) check(`calls to ${id}`, found.calls[id], calls)
  check('credits charged, in thousandths', found.millis, expected.millis)
  check('rows', Object.keys(found.rows).length, rows)
  check('results and charges of every row', isDeepStrictEqual(found.rows, expected.rows), true)
  sayVerdict('Waterfall')
} finally {
  providers.close()
  await installation.close()
}
