// R15: every connection to PostgreSQL is cut again and again while actions of every kind run: pure ones,
// formulas, other sheets, the record store, HTTP, webhooks, mail, pages, waterfalls, delays. No cell may fail
// because of it, and each must have its effect exactly once.
// npm run faults:r15 [-- --rows 600 --pause-ms 700]
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { SMTPServer } from 'smtp-server'
import { findymail } from '#server/catalog/providers/findymail/provider.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { addConnection } from '#server/organisation/connections.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { addRows, callOver, makeSheet, type Step } from '#test/builders/sheets.ts'
import { SECRET } from '#test/plumbing/installation.ts'
import { until } from '#test/plumbing/until.ts'
import { check, openInstallation, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    /** The rows of each kind of action. */
    rows: { type: 'string', default: '600' },
    /** The pause between two cuts. */
    'pause-ms': { type: 'string', default: '700' },
  },
})
const ROWS = Number(values.rows)
const MANY = '1000000000'
const PATIENCE_SECONDS = 900

/** The requests that the outside received: webhooks by their id, pages and calls by their path. */
const seen = { hooks: new Set<string>(), calls: new Set<string>(), mails: new Set<string>() }
const outside = createServer((request, response) => {
  const id = request.headers['webhook-id']
  if (typeof id === 'string') seen.hooks.add(id)
  else seen.calls.add(request.url ?? '')
  const isPage = request.url?.startsWith('/page') === true
  const robots = request.url === '/robots.txt'
  request.resume().on('end', () => {
    response.setHeader('content-type', isPage ? 'text/html' : robots ? 'text/plain' : 'application/json')
    response.end(
      isPage
        ? '<h1>Acme</h1><p>Makes things.</p>'
        : robots
          ? ''
          : '{"contact":{"email":"jane@acme.example"}}',
    )
  })
})
await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(outside.address() as AddressInfo).port}`
const post = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onData(stream, { envelope }, done) {
    for (const { address } of envelope.rcptTo) seen.mails.add(address)
    stream.on('end', () => done()).resume()
  },
})
await new Promise<void>((resolve) => post.listen(0, '127.0.0.1', resolve))
const smtp = `smtp://127.0.0.1:${(post.server.address() as AddressInfo).port}`

const installation = await openInstallation(1_000_000)
const { ask, orgId, key } = installation
try {
  const server = await installation.startServer({
    LOAM_LOG_LEVEL: 'error',
    LOAM_CONCURRENCY: '100',
    LOAM_PROVIDER_URL_FINDYMAIL: origin,
    LOAM_SMTP_URL: smtp,
    LOAM_MAIL_FROM: 'loam@example.com',
    LOAM_MAIL_PER_HOUR: MANY,
  })
  const connection = { orgId, provider: findymail, name: 'Main', ownerId: null, shared: true }
  const own = { ...connection, fields: { secret: 'own key' } }
  await addConnection(installation.store.system, createSealer(SECRET), OPERATOR, own)
  const call = callOver(server.url, key)
  const target = await makeSheet(call, ['name'])
  const target_sheet_id = target.slice(-36)
  const conditions = [{ conditions: [{ variable: '{{input.name}}', operator: 'is', values: ['nobody'] }] }]
  const person = { full_name: 'Jane Lee', company_domain: '{{input.name}}', email_validation: ['None'] }
  const company = {
    source: 'crm',
    entity_kind: 'company',
    identifiers: [{ name: 'domain', value: '{{input.name}}' }],
  }
  const email_providers = [{ name: 'Findymail', use_own_key: true }]
  const kinds: Record<string, object> = {
    normalize_domain: { value: '{{input.name}}' },
    format_data_using_js_expression: { data_formatter: '{{input.name}}.length' },
    send_to_sheet: { target_sheet_id, field_mapping: [{ name: 'name', value: '{{input.name}}' }] },
    lookup_rows_in_sheet: { target_sheet_id, conditions },
    auto_dedupe_rows: { auto_dedupe_columns: ['name'] },
    records_ingest: { ...company, fields: [{ name: 'industry', value: 'software' }] },
    http_api_call: { method: 'GET', endpoint: `${origin}/call/{{input.name}}` },
    send_webhook: { url: `${origin}/hook`, payload: { name: '{{input.name}}' } },
    send_email: { to: 'to@{{input.name}}', subject: 'Hello', body: 'Text' },
    scrape_website: { url: `${origin}/page/{{input.name}}` },
    person_work_email_waterfall: { ...person, email_providers },
    delay_step: { time: '1' },
  }
  const sheets = new Map<string, string>()
  for (const [action_id, inputs] of Object.entries(kinds)) {
    const sheet = await makeSheet(call, ['name'], [{ action_id, inputs } as Step])
    await addRows(call, sheet, ROWS, (n) => ({ name: `c${n}.example` }))
    sheets.set(action_id, sheet)
  }
  const runs = [...sheets.values()].map((sheet) => call('POST', `${sheet}/run-all`))
  await Promise.all(runs)

  type Progress = { cells: number; flights: number }
  const look = async (): Promise<Progress> => {
    const [found] = await ask<Progress>(
      `select (select count(*) from cells where org_id = $1) as cells,
        (select count(*) from flights where org_id = $1) as flights`,
      [orgId],
    )
    return found ?? { cells: 0, flights: 0 }
  }
  let [cuts, connections, before] = [0, 0, -1]
  await until(
    'all rows land',
    async () => {
      const { cells, flights } = await look()
      if (flights === 0) return true
      // Without progress between two cuts the run would never finish.
      if (cells > before) {
        const [cut] = await ask<{
          count: number
        }>(`select count(pg_terminate_backend(pid)) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
        connections += cut?.count ?? 0
        cuts += 1
        before = cells
        if (cuts % 10 === 1) say(`cut ${cuts}: ${cells} cells are settled, ${flights} rows are under way`)
      }
      await sleep(Number(values['pause-ms']))
      return false
    },
    PATIENCE_SECONDS,
  )

  say(`${cuts} cuts of ${connections} connections during ${ROWS} rows of each of ${sheets.size} actions`)
  check('cuts', cuts > 0, true)
  for (const [action, sheet] of sheets) {
    const endings = await ask<{ ending: string }>(
      `select status || coalesce(': ' || error, '') || ' x ' || count(*) as ending from cells
        where sheet_id = $1 group by status, error`,
      [sheet.slice(-36)],
    )
    check(`cells of ${action}`, endings.map(({ ending }) => ending).join('; '), `complete x ${ROWS}`)
  }
  const [effects] = await ask<{ sent: number; names: number; entities: number }>(
    `select (select count(*) from rows where sheet_id = $1) as sent,
      (select count(distinct data ->> '1') from rows where sheet_id = $1) as names,
      (select count(*) from record_entities where org_id = $2) as entities`,
    [target_sheet_id, orgId],
  )
  check('rows in the other sheet', effects?.sent, ROWS)
  check('names among them', effects?.names, ROWS)
  check('entities in the record store', effects?.entities, ROWS)
  check('webhooks by their id', seen.hooks.size, ROWS)
  check('recipients of mail', seen.mails.size, ROWS)
  check(
    'addresses that were called',
    [...seen.calls].filter((path) => path.startsWith('/call/')).length,
    ROWS,
  )
  check('the server runs', server.child.exitCode, null)
  sayVerdict('R15')
} finally {
  outside.close()
  outside.closeAllConnections()
  post.close()
  await installation.close()
}
