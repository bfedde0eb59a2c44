import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createAgent } from '../agent/agent.ts'
import { createApp } from '../api/app.ts'
import { DASHBOARD_FOLDER } from '../api/dashboard/built-files.ts'
import { logMisfits } from '../catalog/provider/misfits.ts'
import { listAnnouncedEnds } from '../catalog/providers/registry.ts'
import { type Catalogue, loadCatalogue } from '../catalog/registry.ts'
import { type Config, ConfigError, readConfig } from '../lib/config/config.ts'
import { listUnknownSettings } from '../lib/config/unknown-settings.ts'
import { reasonOf } from '../lib/errors.ts'
import { type FastPart, readFastParts, switchOff } from '../lib/fast-parts.ts'
import { READY, RUNNING_AS_WORKER } from '../lib/log-lines.ts'
import { createLog, type Log } from '../lib/log.ts'
import { createMailer, mailSettings } from '../lib/mail.ts'
import { closeReaders } from '../lib/readers/readers.ts'
import { watchThread } from '../lib/timing/thread-watch.ts'
import { recordPrices } from '../money/prices.ts'
import { bootstrap } from '../organisation/first-start.ts'
import { createSignInLink, type SignInLink } from '../organisation/sign-in.ts'
import { OPERATOR } from '../organisation/store/audit.ts'
import { createRunEnvironment } from '../runs/run-environment.ts'
import { loadSources, type SourceCatalogue } from '../sources/registry.ts'
import { type Outside, openOutside } from './outside.ts'
import { announceServer, withdrawServer } from './running-server.ts'
import { startWork } from './work.ts'
import { openWorkspace, type Workspace, writePrivateFile } from './workspace.ts'

const SHUTDOWN_MS = 25_000

/** A part of the server that runs until it is stopped. */
type Part = { stop(): Promise<void> }
type ApiPart = Part & { url: string; announce(): void }

/**
 * Runs the server until `end` aborts. This is the only place that starts and stops the parts. The shutdown
 * stops accepting requests and jobs, answers or parks those in progress, closes the connections, and stops
 * PostgreSQL last.
 */
export async function runServer(env: Record<string, string | undefined>, end: AbortSignal): Promise<void> {
  const config = readConfig(env)
  const without = readWithout(env)
  switchOff(without)
  const log = createLog(config.LOAM_LOG_LEVEL)
  for (const line of listUnknownSettings(env)) log.warn(line)
  if (without.length > 0) log.warn({ without }, 'LOAM_WITHOUT: running without parts that exist for speed')
  if (end.aborted) return
  limitShutdown(end, log)
  const unsubscribe = logMisfits(log)
  const workspace = await openWorkspace(config, log, 'server', end).catch((cause: unknown) => {
    if (end.aborted && cause === end.reason) return null
    throw cause
  })
  for (const line of await listAnnouncedEnds(config.providerUrls, new Date())) log.warn(line)
  if (workspace !== null) await runParts(config, log, workspace, { env, end })
  unsubscribe()
  log.info('ended')
}

/** Reads LOAM_WITHOUT, with which developers switch fast parts off. */
function readWithout(env: Record<string, string | undefined>): FastPart[] {
  try {
    return readFastParts(env['LOAM_WITHOUT'] ?? '')
  } catch (cause) {
    throw new ConfigError(`LOAM_WITHOUT: ${reasonOf(cause)}`)
  }
}

async function runParts(
  config: Config,
  log: Log,
  workspace: Workspace,
  { env, end }: { env: Record<string, string | undefined>; end: AbortSignal },
): Promise<void> {
  const parts: Part[] = []
  let outside: Outside | undefined
  try {
    outside = await openOutside({ config, log, store: workspace.store })
    const [catalogue, sources] = await Promise.all([loadCatalogue(), loadSources()])
    const serves = (role: 'api' | 'worker') => config.LOAM_ROLES.includes(role) && !end.aborted
    await recordPrices(workspace.store.system, catalogue)
    const api = serves('api') ? await startApi(config, log, workspace, { catalogue, sources, outside }) : null
    if (api !== null) parts.push(api)
    // The lock of the data folder keeps every other server away from an embedded database.
    const sole = config.DATABASE_URL === undefined
    if (serves('worker')) {
      parts.push(await startWork({ ...workspace, config, log, catalogue, sources, outside, sole }))
    }
    if (api !== null) {
      announceServer(config.LOAM_DATA_DIR, api.url, env)
      api.announce()
    }
    if (!config.LOAM_ROLES.includes('api')) log.info(RUNNING_AS_WORKER)
    // The watch begins here: a start compiles everything it loads, and no request waits yet.
    const unwatch = watchThread(log)
    if (!end.aborted) await once(end, 'abort')
    unwatch()
    log.info({ cause: reasonOf(end.reason) }, 'shutting down: work in progress is finished first')
  } finally {
    withdrawServer(config.LOAM_DATA_DIR)
    await stopAll(parts, outside, workspace)
  }
}

/**
 * Stops all parts at the same time, so that none waits for the slowest of another. The database stays open
 * until they have stopped.
 */
async function stopAll(parts: Part[], outside: Outside | undefined, workspace: Workspace): Promise<void> {
  const stopped = await Promise.allSettled(parts.map((part) => part.stop()))
  const closed = await Promise.allSettled([outside?.close(), closeReaders()])
  await workspace.close()
  for (const one of [...stopped, ...closed]) if (one.status === 'rejected') throw one.reason
}

async function startApi(
  config: Config,
  log: Log,
  { store, storage, sealer }: Workspace,
  { catalogue, sources, outside }: { catalogue: Catalogue; sources: SourceCatalogue; outside: Outside },
): Promise<ApiPart> {
  let publicUrl = config.LOAM_PUBLIC_URL ?? ''
  const { egress, gates, models } = outside
  const environment = createRunEnvironment(store, sealer, config.providerKeys)
  const app = await createApp({
    config,
    store,
    storage,
    log,
    sealer,
    egress,
    sendMail: createMailer(mailSettings(config)),
    catalogue,
    agent: createAgent({ config, environment, ...outside }),
    sources,
    gates,
    models,
    publicUrl: () => publicUrl,
    dashboardFolder: DASHBOARD_FOLDER,
  })
  try {
    const keyFile = join(config.LOAM_DATA_DIR, 'admin-key')
    const first = await bootstrap(
      store.system,
      { adminEmail: config.LOAM_ADMIN_EMAIL, initialCredits: config.LOAM_INITIAL_CREDITS },
      (key) => writePrivateFile(keyFile, key),
    )
    const listening = await app.listen({ host: config.HOST, port: config.PORT }).catch((cause: unknown) => {
      throw new Error(`${reasonOf(cause)}. Set HOST and PORT to a free address`, { cause })
    })
    if (publicUrl === '') publicUrl = listening
    const firstStart =
      first === null
        ? null
        : {
            key: first.key,
            link: await createSignInLink(store.system, OPERATOR, {
              orgId: first.orgId,
              member: first.admin,
              publicUrl,
            }),
          }
    return {
      url: listening,
      stop: () => app.close(),
      announce: () => announce(config, listening, keyFile, firstStart),
    }
  } catch (cause) {
    await app.close()
    throw cause
  }
}

/** Forces the process to exit if the shutdown hangs. */
function limitShutdown(end: AbortSignal, log: Log): void {
  const exit = () => {
    log.error(`the shutdown did not finish within ${SHUTDOWN_MS / 1000} s; exiting`)
    process.exit(1)
  }
  end.addEventListener('abort', () => setTimeout(exit, SHUTDOWN_MS).unref())
}

type FirstStart = { key: string; link: SignInLink }

function announce(config: Config, url: string, keyFile: string, first: FirstStart | null): void {
  const lines = ['', `  ${READY} ${url}`, `  API ${url}/api/v1   docs ${url}/docs`]
  const another = `npx loam sign-in-link --email ${config.LOAM_ADMIN_EMAIL}`
  if (first === null) lines.push('', `  Create a sign-in link: ${another}`)
  else {
    lines.push('', `  First start: administrator ${config.LOAM_ADMIN_EMAIL}, API key ${first.key}`)
    lines.push(
      '',
      '  Sign in (once, within 15 minutes):',
      `  ${first.link.url}`,
      `  Create another link: ${another}`,
    )
  }
  if (existsSync(keyFile)) {
    lines.push('', '  Try it:', `  curl ${url}/api/v1/user/ -H "Authorization: Bearer $(cat ${keyFile})"`)
  }
  process.stdout.write(`${lines.join('\n')}\n\n`)
}

/** Prints why the server could not run, in one line if the operator can fix the cause. */
export function reportFatal(cause: unknown): void {
  const lines = cause instanceof ConfigError ? cause.message.split('\n') : [reasonOf(cause)]
  for (const line of lines) process.stderr.write(`loam: ${line}\n`)
}
