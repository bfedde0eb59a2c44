import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openAgent } from './agent/open-agent.ts'
import { createApp } from './api/app.ts'
import type { Api } from './api/services.ts'
import { type Catalogue, loadCatalogue } from './catalog/registry.ts'
import { createProviderGate } from './engine/provider-gate/provider-gate.ts'
import { type Config, ConfigError, readConfig } from './lib/config/config.ts'
import { createEgress } from './lib/egress/egress.ts'
import { egressSettings } from './lib/egress/settings.ts'
import { reasonOf } from './lib/errors.ts'
import { createLog, type Log } from './lib/log.ts'
import { createMailer, mailSettings } from './lib/mail.ts'
import { bootstrap } from './org/first-start.ts'
import { startWork } from './work.ts'
import { openWorkspace, type Workspace, writePrivateFile } from './workspace.ts'

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
    const work = serves('worker') ? await startWork({ ...workspace, config, log, catalogue }) : null
    if (app === null) log.info('working; this process serves no requests')
    log.info({ signal: await ended }, 'ending: requests in flight are finished first')
    await app?.close()
    await work?.stop()
  } finally {
    await workspace.close()
  }
  log.info('ended')
}

async function startApi(
  config: Config,
  log: Log,
  { store, storage, sealer }: Workspace,
  catalogue: Catalogue,
): Promise<Api> {
  let publicUrl = config.LOAM_PUBLIC_URL ?? ''
  const egress = createEgress(egressSettings(config))
  const { agent, close } = openAgent({ config, store, sealer, egress, gate: createProviderGate(store, log) })
  const app = await createApp({
    config,
    store,
    storage,
    log,
    sealer,
    egress,
    sendMail: createMailer(mailSettings(config)),
    catalogue,
    agent,
    publicUrl: () => publicUrl,
  })
  app.addHook('onClose', async () => {
    await Promise.all([egress.close(), close()])
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
function reportFatal(cause: unknown): void {
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
