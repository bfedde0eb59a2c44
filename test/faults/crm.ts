// Kills a server with -9 while a CRM creates a record: before the record is stored, before the request is
// answered, and after. In the end the CRM must have exactly one record: Attio by its upsert, HubSpot by a
// lookup before a second creation.
// npm run faults:crm [-- --rounds 3]
import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { reasonOf } from '#server/lib/errors.ts'
import { type Call, callOver, makeSheet } from '#test/builders/sheets.ts'
import { UNLIMITED } from '#test/plumbing/installation.ts'
import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'
import { until } from '#test/plumbing/until.ts'
import { type Moment, serveCrm } from './breaks/crm-server.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } })
const PATIENCE_SECONDS = 300
const MOMENTS: Moment[] = ['before it is stored', 'before it is answered', 'after it is answered']
const STEPS = {
  hubspot: {
    action_id: 'hubspot_create_object',
    inputs: { object_type: 'contacts', properties: [{ name: 'email', value: '{{input.email}}' }] },
  },
  attio: {
    action_id: 'attio_upsert_record',
    inputs: {
      object: 'people',
      match_field: 'email_addresses',
      values: [{ name: 'email_addresses', value: '{{input.email}}' }],
    },
  },
}

const folder = mkdtempSync(join(tmpdir(), 'loam-crm-'))
// If started by root, PostgreSQL runs as another user, who must be able to reach its folder.
chmodSync(folder, 0o755)
let server: ServerProcess | undefined
/** The moment at which the server is killed next, once. */
let next: Moment | null = null
const crm = await serveCrm((moment) => {
  if (moment !== next) return
  next = null
  server?.child.kill('SIGKILL')
})
const env = {
  LOAM_DATA_DIR: join(folder, 'data'),
  LOAM_EGRESS_ALLOW: '127.0.0.1',
  LOAM_LOG_LEVEL: 'warn',
  LOAM_PROVIDER_URL_HUBSPOT: crm.url,
  LOAM_PROVIDER_URL_ATTIO: crm.url,
  ...UNLIMITED,
}

async function start(): Promise<ServerProcess> {
  const started = await startServer(env)
  if (started.url === '') throw new Error(`the server did not start: ${started.stderr()}`)
  server = started
  return started
}

type ListedRow = { row_status: string }
const listRows = async (call: Call, sheet: string): Promise<ListedRow[]> =>
  (await call('POST', `${sheet}/rows/list`, { page_size: 200 })).data.rows

try {
  await start()
  const key = readFileSync(join(env.LOAM_DATA_DIR, 'admin-key'), 'utf8')
  const call: Call = (method, path, body) => callOver(server?.url ?? '', key)(method, path, body)
  const { PATH = '', HOME = '/' } = process.env
  for (const provider of Object.keys(STEPS)) {
    const args = [
      'connection',
      'add',
      '--provider',
      provider,
      '--name',
      'CRM',
      '--secret',
      'crm-token-0123456789',
    ]
    await promisify(execFile)(process.execPath, ['cli/loam.mjs', ...args], { env: { PATH, HOME, ...env } })
  }
  let kills = 0
  for (const [name, step] of Object.entries(STEPS)) {
    const sheet = await makeSheet(call, ['email'], [step])
    const emails: string[] = []
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const moment of MOMENTS) {
        const victim = server ?? (await start())
        const email = `${name}-${emails.length}@acme.example`
        emails.push(email)
        const { data } = await call('POST', `${sheet}/rows`, { rows: [{ email }] })
        next = moment
        const ran = call('POST', `${sheet}/run`, { row_ids: data.row_ids })
        // The server may be killed before it answers. Whether the row runs is checked below.
        await Promise.all([
          ran.catch((cause: unknown) => say(`the run was not answered: ${reasonOf(cause)}`)),
          victim.ended,
        ])
        kills += 1
        await start()
        const isDone = async () =>
          (await listRows(call, sheet)).every(({ row_status }) => row_status !== 'running')
        await until(`the row of ${email} has ended`, isDone, PATIENCE_SECONDS)
      }
    }
    const rows = await listRows(call, sheet)
    check(
      `${name}: rows that are complete`,
      rows.filter(({ row_status }) => row_status === 'complete').length,
      emails.length,
    )
    const records = crm[name === 'hubspot' ? 'hubspot' : 'attio'].map(({ email }) => email)
    check(`${name}: records, one for each row`, records.toSorted().join(' '), emails.toSorted().join(' '))
  }
  say(`killed ${kills} times`)
  const looks = crm.asked.filter((one) => one === 'POST /crm/v3/objects/contacts/search').length
  check('HubSpot was looked into before anything was created again', looks > 0, true)
  check('the end', await server?.stop(), 0)
  sayVerdict('crm')
} finally {
  await server?.stop('SIGKILL')
  crm.close()
  rmSync(folder, { recursive: true, force: true })
}
