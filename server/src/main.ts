import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Api, createApp } from './api/app.ts'
import { type Catalogue, loadCatalogue } from './catalog/registry.ts'
import { createSandbox } from './catalog/sandbox.ts'
import { createEngine } from './engine/engine.ts'
import { startWorker } from './engine/worker.ts'
import { type Config, ConfigError, readConfig } from './lib/config.ts'
import { createEgress } from './lib/egress.ts'
import { reasonOf } from './lib/errors.ts'
import { createLog, type Log } from './lib/log.ts'
import { createMailer } from './lib/mail.ts'
import { bootstrap } from './org/first-start.ts'
import { runPurger } from './rows/purger.ts'
import { forgetOldWindows } from './store/admission.ts'
import { openStore } from './store/db.ts'
import { forgetOldCalls } from './store/idempotency.ts'
import { openWorkspace, type Workspace, writePrivateFile } from './workspace.ts'

const SWEEP_MS = 10 * 60_000
const SHUTDOWN_MS = 25_000

/** Runs the server until it is told to end. The only place where the parts are put together. */
export async function serve(env: Record<string, string | undefined>): Promise<void> {
  const config = readConfig(env)
  const log = createLog(config.LOAM_LOG_LEVEL)
  const ended = endRequested(log)
  const workspace = await openWorkspace(config, log, 'server')
  try {
    const catalogue = await loadCatalogue()
    const serves = (role: 'api' | 'worker') => config.LOAM_ROLES.includes(role)
    const app = serves('api') ? await startApi(config, log, workspace, catalogue) : null
    const ending = new AbortController()
    const work = serves('worker')
      ? await startWork(config, log, workspace, catalogue, ending.signal)
      : { done: Promise.resolve() }
    if (app === null) log.info('working; this process serves no requests')
    log.info({ signal: await ended }, 'ending: requests in flight are finished first')
    await app?.close()
    ending.abort()
    await work.done
  } finally {
    await workspace.close()
  }
  log.info('ended')
}

async function startApi(
  config: Config,
  log: Log,
  { store, sealer }: Workspace,
  catalogue: Catalogue,
): Promise<Api> {
  let publicUrl = config.LOAM_PUBLIC_URL ?? ''
  const mailHost =
    config.LOAM_PUBLIC_URL === undefined ? 'localhost' : new URL(config.LOAM_PUBLIC_URL).hostname
  const app = await createApp({
    config,
    store,
    log,
    sealer,
    sendMail: createMailer({ url: config.LOAM_SMTP_URL, from: config.LOAM_MAIL_FROM ?? `loam@${mailHost}` }),
    catalogue,
    publicUrl: () => publicUrl,
  })
  const keyFile = join(config.LOAM_DATA_DIR, 'admin-key')
  const first = await bootstrap(
    store.system,
    { adminEmail: config.LOAM_ADMIN_EMAIL, initialCredits: config.LOAM_INITIAL_CREDITS },
    (key) => writePrivateFile(keyFile, key),
  )
  const listening = await app.listen({ host: config.HOST, port: config.PORT }).catch((cause: unknown) => {
    throw new Error(`${reasonOf(cause)}. Set HOST or PORT to an address that is free`, { cause })
  })
  if (publicUrl === '') publicUrl = listening
  announce(config, listening, keyFile, first?.key ?? null)
  return app
}

/** Work that no request waits for: rows, purges, sweeps. `done` resolves once all has come to rest after `ending`. */
async function startWork(
  config: Config,
  log: Log,
  { store, databaseUrl }: Workspace,
  catalogue: Catalogue,
  ending: AbortSignal,
): Promise<{ done: Promise<void> }> {
  const egress = createEgress({ allow: config.LOAM_EGRESS_ALLOW })
  const sandbox = createSandbox()
  const engineStore = openStore({ url: databaseUrl, log, connections: 8, keyedPlans: true })
  const engine = createEngine({ store: engineStore, catalogue, egress, sandbox, log, ending })
  const worker = await startWorker({
    databaseUrl,
    store: engineStore,
    log,
    engine,
    concurrency: config.LOAM_CONCURRENCY,
  })
  const sweep = setInterval(() => {
    Promise.all([forgetOldCalls(store.system), forgetOldWindows(store)]).catch((cause: unknown) =>
      log.warn({ err: cause }, 'sweep failed; tried again later'),
    )
  }, SWEEP_MS)
  const purged = runPurger(store, log, ending)
  const comeToRest = async () => {
    clearInterval(sweep)
    await Promise.all([worker.stop(), purged])
    await Promise.all([egress.close(), sandbox.close(), engineStore.close()])
  }
  return {
    done: new Promise<void>((resolve) => ending.addEventListener('abort', () => resolve())).then(comeToRest),
  }
}

/** Resolves at the first SIGINT or SIGTERM. A second one, or an end that takes too long, exits at once. */
function endRequested(log: Log): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    const onSignal = (signal: string) => {
      if (asked) process.exit(130)
      asked = true
      resolve(signal)
      setTimeout(() => {
        log.error(`did not end within ${SHUTDOWN_MS / 1000} s; exiting`)
        process.exit(1)
      }, SHUTDOWN_MS).unref()
    }
    process.on('SIGINT', onSignal)
    process.on('SIGTERM', onSignal)
  })
}

function announce(config: Config, url: string, keyFile: string, firstKey: string | null): void {
  const lines = ['', `  Loam is ready at ${url}`, `  API ${url}/api/v1   docs ${url}/docs`]
  if (firstKey !== null)
    lines.push('', `  First start: administrator ${config.LOAM_ADMIN_EMAIL}, API key ${firstKey}`)
  if (existsSync(keyFile)) {
    lines.push('', '  Try it:', `  curl ${url}/api/v1/user/ -H "Authorization: Bearer $(cat ${keyFile})"`)
  }
  process.stdout.write(`${lines.join('\n')}\n\n`)
}

/** Says what kept the server from running, in one line where the cause is the operator's to mend. */
export function reportFatal(cause: unknown): void {
  const lines = cause instanceof ConfigError ? cause.message.split('\n') : [reasonOf(cause)]
  for (const line of lines) process.stderr.write(`loam: ${line}\n`)
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  try {
    await serve(process.env)
  } catch (cause) {
    reportFatal(cause)
    process.exitCode = 1
  }
}
