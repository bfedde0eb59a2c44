import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent } from '#server/agent/agent.ts'
import { createApp } from '#server/api/app.ts'
import type { Api, Services } from '#server/api/services.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { openStore, type Store } from '#server/database/connection/db.ts'
import { toConnectionLimits } from '#server/database/connection/limits.ts'
import { openStorage } from '#server/files/storage/open-storage.ts'
import type { Storage } from '#server/files/storage/storage.ts'
import { type Config, readConfig } from '#server/lib/config/config.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { createKey, type KeyOptions } from '#server/organisation/keys.ts'
import { addMember } from '#server/organisation/members.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { openOutside } from '#server/process/outside.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { loadSources } from '#server/sources/registry.ts'
import { watchEgress, watchRequests } from '../guards/outside-calls.ts'
import { atEnd } from './at-end.ts'
import { createDatabase } from './databases.ts'
import { type Target, TEMPLATE } from './global-setup.ts'

/** Creates a migrated database for the calling test file. It is dropped at the end of the file. */
export const makeDatabase = (target?: Target): Promise<string> =>
  createDatabase({ target, template: TEMPLATE })

export function testConfig(overrides: Record<string, string> = {}): Config {
  return readConfig({
    LOAM_RATE_LIMIT_PER_MINUTE: '1000000',
    LOAM_RATE_LIMIT_PER_DAY: '1000000',
    // Refuses no request, however slow the machine is.
    LOAM_OVERLOAD_MS: '0',
    LOAM_LOG_LEVEL: 'silent',
    // Ignores any installed browser.
    LOAM_BROWSER: 'none',
    ...overrides,
  })
}

export async function makeStore(
  target?: Target,
  config: Config = testConfig(),
): Promise<{ store: Store; databaseUrl: string }> {
  const databaseUrl = await makeDatabase(target)
  const store = openStore({
    url: databaseUrl,
    log: createLog(process.env['LOAM_TEST_LOG'] ?? 'silent'),
    limits: toConnectionLimits(config),
  })
  atEnd(() => store.close())
  return { store, databaseUrl }
}

/** Creates a folder for the files of the calling test file. It is removed at the end of the file. */
function makeStorage(): Storage {
  const folder = mkdtempSync(join(tmpdir(), 'loam-test-files-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return openStorage(testConfig({ LOAM_DATA_DIR: folder }))
}

export type ApiResponse<Body = Json> = {
  status: number
  headers: Record<string, string | string[] | number | undefined>
  body: Body
}
// Answers of the API are inspected freely in tests; a wrong path reads as undefined and fails its expectation.
// oxlint-disable-next-line typescript/no-explicit-any
export type Json = any

export type TestApp = {
  api: Api
  store: Store
  databaseUrl: string
  services: Services
  call(
    key: string | null,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>
  makeOrg(name?: string): Promise<TestOrg>
}

export type TestOrg = {
  orgId: string
  adminEmail: string
  /** A full key of the administrator. */
  key: string
  keyFor(email: string, role: string, options?: KeyOptions): Promise<string>
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse>
}

let serial = 0

/** Creates the real application on a real database. Requests go through Fastify's own injection. */
export async function makeApp(
  options: { settings?: Record<string, string>; services?: Partial<Services>; target?: Target } = {},
): Promise<TestApp> {
  const config = testConfig(options.settings)
  const { store, databaseUrl } = await makeStore(options.target, config)
  const log = createLog(process.env['LOAM_TEST_LOG'] ?? 'silent')
  const sealer = createSealer('a secret for tests only')
  const outside = await openOutside({ config, log, store })
  atEnd(() => outside.close())
  const egress = watchEgress(outside.egress)
  const environment = createRunEnvironment(store, sealer, config.providerKeys)
  const services: Services = {
    config,
    egress,
    store,
    agent: createAgent({ config, environment, ...outside, egress }),
    storage: options.services?.storage ?? makeStorage(),
    log,
    sealer,
    sendMail: null,
    catalogue: options.services?.catalogue ?? (await loadCatalogue()),
    sources: options.services?.sources ?? (await loadSources()),
    gates: outside.gates,
    models: outside.models,
    publicUrl: () => 'http://loam.test',
    // Ignores a dashboard that is built in this checkout.
    dashboardFolder: join(tmpdir(), 'no-dashboard'),
    ...options.services,
  }
  const api = await createApp(services)
  watchRequests(api)
  await api.ready()
  atEnd(() => api.close())

  const call: TestApp['call'] = async (key, method, path, body, headers = {}) => {
    const response = await api.inject({
      method: method as 'GET',
      url: path.startsWith('/') && !path.startsWith('/api') ? `/api/v1${path}` : path,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.statusCode, headers: response.headers, body: parse(response.body) }
  }

  return {
    api,
    store,
    databaseUrl,
    services,
    call,
    async makeOrg(name) {
      serial += 1
      const adminEmail = `admin${serial}@example.com`
      const made = await createOrganisation(store.system, OPERATOR, {
        name: name ?? `Organisation ${serial}`,
        adminEmail,
        initialCredits: 1000,
      })
      return {
        orgId: made.orgId,
        adminEmail,
        key: made.key,
        call: (...args) => call(made.key, ...args),
        async keyFor(email, role, keyOptions = {}) {
          const db = store.system
          const known = await db
            .selectFrom('members')
            .select(['member_id', 'email', 'role'])
            .where('org_id', '=', made.orgId)
            .where('email', '=', email)
            .executeTakeFirst()
          const member =
            known ??
            (await addMember(db, OPERATOR, made.orgId, { invite: { email, role }, memberLimit: null }))
          return (await createKey(db, OPERATOR, { orgId: made.orgId, member }, keyOptions)).key
        },
      }
    },
  }
}

function parse(text: string): Json {
  try {
    return text === '' ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}
