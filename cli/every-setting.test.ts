import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SETTINGS } from '#server/lib/config/config.ts'
import { makeClusterFolder, prepareCluster } from '#test/plumbing/prepared-cluster.ts'
import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'
import { runLoam } from './testing/loam.ts'

const folder = makeClusterFolder('settings')
const NOWHERE = 'http://127.0.0.1:1'
const LOAM_SECRET = 'a secret for tests only'

/**
 * Every setting without a default, and most others. Without DATABASE_URL the server uses its embedded
 * PostgreSQL.
 */
const GIVEN = {
  HOST: '127.0.0.1',
  PORT: '0',
  LOAM_DATA_DIR: join(folder, 'data'),
  LOAM_ROLES: 'api',
  LOAM_SECRET,
  LOAM_PUBLIC_URL: 'https://loam.example.com',
  LOAM_TRUST_PROXY: '1',
  LOAM_REQUEST_STALL_SECONDS: '30',
  LOAM_OVERLOAD_MS: '500',
  LOAM_ADMIN_EMAIL: 'ann@example.com',
  LOAM_CONTACT: 'ann@example.com',
  LOAM_RATE_LIMIT_PER_MINUTE: '100',
  LOAM_RATE_LIMIT_PER_DAY: '1000',
  LOAM_PREVIEWS_PER_HOUR: '10',
  LOAM_STREAMS_PER_KEY: '5',
  LOAM_STREAMS_PER_ORG: '50',
  LOAM_ROWS_PER_ORG: '1000',
  LOAM_STORAGE_MB_PER_ORG: '100',
  LOAM_REVISIONS_KEPT: '10',
  LOAM_EXPORTS_PER_ORG: '10',
  LOAM_WEBHOOK_PER_MINUTE: '100',
  LOAM_SEGMENT_CHANGES_DAYS: '3',
  LOAM_PIXEL_PER_MINUTE: '100',
  LOAM_INITIAL_CREDITS: '100',
  LOAM_MEMBER_LIMIT: '10',
  LOAM_CONCURRENCY: '10',
  LOAM_EGRESS_ALLOW: '127.0.0.1',
  LOAM_DNS_SERVERS: '127.0.0.1:1',
  LOAM_SMTP_PROBE_PORT: '0',
  LOAM_S3_BUCKET: 'files',
  LOAM_S3_ENDPOINT: NOWHERE,
  LOAM_S3_REGION: 'eu-central-1',
  LOAM_S3_ACCESS_KEY_ID: 'key',
  LOAM_S3_SECRET_ACCESS_KEY: 'secret',
  LOAM_S3_FORCE_PATH_STYLE: 'true',
  LOAM_MODEL_BASE_URL: `${NOWHERE}/v1`,
  LOAM_MODEL_API_KEY: 'key',
  LOAM_MODELS: 'small,large',
  LOAM_ANTHROPIC_API_KEY: 'key',
  LOAM_MODEL_CONCURRENCY: '2',
  LOAM_MODEL_TIMEOUT_SECONDS: '10',
  LOAM_SEARCH_URL: NOWHERE,
  LOAM_AGENT_MODEL: 'small',
  LOAM_AGENT_PER_HOUR: '10',
  LOAM_AGENT_CONCURRENCY: '2',
  LOAM_AGENT_TIMEOUT_SECONDS: '60',
  LOAM_AGENT_PAGE_SECONDS: '60',
  LOAM_SEGMENT_CYCLE_SECONDS: '60',
  LOAM_SEGMENT_FLOOD_MEMBERS: '100',
  LOAM_SEGMENT_FLOOD_FACTOR: '2',
  LOAM_SEGMENT_REPUSH_PER_DAY: '10',
  LOAM_BROWSER: 'none',
  LOAM_SANDBOX: 'thread',
  LOAM_SMTP_URL: 'smtp://127.0.0.1:1',
  LOAM_MAIL_FROM: 'loam@example.com',
  LOAM_OIDC_ISSUER: NOWHERE,
  LOAM_OIDC_CLIENT_ID: 'loam',
  LOAM_OIDC_CLIENT_SECRET: 'secret',
  LOAM_MAIL_PER_HOUR: '10',
  LOAM_LOG_LEVEL: 'warn',
}

let server: ServerProcess
beforeAll(async () => {
  prepareCluster(GIVEN.LOAM_DATA_DIR)
  server = await startServer({ ...GIVEN, LOAM_PROVIDER_URL_HUNTER: NOWHERE, LOAM_PROVIDER_KEY_HUNTER: 'key' })
  expect([server.url, server.stderr()]).toEqual([expect.stringContaining('http'), expect.any(String)])
}, 120_000)
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const NOBODY = '00000000-0000-7000-8000-000000000000'
const SHEET = ['--sheet', NOBODY]
/** Commands that only read. Those that name something unknown exit with not found. */
const READING: [exit: number, ...args: string[]][] = [
  [0, 'org', 'list'],
  [0, 'member', 'list'],
  [0, 'invitation', 'list'],
  [0, 'key', 'list'],
  [0, 'workflow', 'list'],
  [3, 'webhook', 'deliveries', ...SHEET],
  [0, 'schedule', 'list'],
  [0, 'shortcut', 'list'],
  [3, 'shortcut', 'show', NOBODY],
  [0, 'source', 'types'],
  [0, 'source', 'list'],
  [3, 'source', 'show', NOBODY],
  [3, 'source', 'data', NOBODY],
  [0, 'connection', 'list'],
  [0, 'provider', 'stats'],
  [3, 'records', 'get', NOBODY],
  [3, 'records', 'history', NOBODY],
  [0, 'records', 'search', 'acme'],
  [0, 'records', 'sources'],
  [0, 'segment', 'list'],
  [3, 'segment', 'members', NOBODY],
  [3, 'segment', 'explain', NOBODY, NOBODY],
  [0, 'secret', 'status'],
  [0, 'env', 'list'],
  [0, 'actions', 'list'],
  [0, 'actions', 'show', 'filter'],
  [0, 'credits', 'balance'],
  [0, 'credits', 'usage'],
  [0, 'credits', 'ledger'],
  [0, 'budget', 'list'],
  [0, 'prices', 'list'],
  [3, 'estimate', ...SHEET],
  [3, 'estimate', ...SHEET, '--all'],
  [3, 'connection', 'test', NOBODY, '--org', NOBODY],
]

describe('F66: beside a server with every optional setting', () => {
  it('all that have no default are in this test', () => {
    const missing = Object.entries(SETTINGS)
      .filter(([name, schema]) => !(name in GIVEN) && schema.parse(undefined) === undefined)
      .map(([name]) => name)
    expect(missing).toEqual(['DATABASE_URL'])
  })

  it.each(READING)('exits %i: loam %s %s', async (exit, ...args) => {
    const { LOAM_DATA_DIR } = GIVEN
    const outcome = await runLoam([...args, '--json'], { LOAM_DATA_DIR, LOAM_SECRET })
    expect([outcome.exit, exit === 0 ? outcome.stderr : '']).toEqual([exit, ''])
  })

  it('doctor finds nothing wrong with the settings', async () => {
    const { LOAM_DATA_DIR } = GIVEN
    const { stdout } = await runLoam(['doctor', '--json'], { LOAM_DATA_DIR, LOAM_SECRET })
    const checks: { check: string; status: string }[] = JSON.parse(stdout)
    expect(checks.filter(({ check, status }) => check === 'settings' && status === 'fail')).toEqual([])
  })
})
