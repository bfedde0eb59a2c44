import { realpathSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/loam', import.meta.url))

/** Runs the server until it is told to end. Signals are heard before anything else is loaded, which takes a second. */
export async function serve(env: Record<string, string | undefined>): Promise<void> {
  const end = endBySignal()
  // Halves the time that loading takes from the second start on. Kept at once: a process that is killed keeps nothing.
  enableCompileCache(COMPILED)
  const { runServer } = await import('./process/server.ts')
  flushCompileCache()
  await runServer(env, end)
}

/**
 * Aborts at the first SIGINT or SIGTERM. Those that follow change nothing: a terminal sends one to npm and one to us, and npm
 * passes its own on. Only the time limit of the server cuts an end short.
 */
function endBySignal(): AbortSignal {
  const end = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => end.abort(new Error(`${signal} was received`)))
  }
  return end.signal
}

if (realpathSync(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  try {
    await serve(process.env)
  } catch (cause) {
    const { reportFatal } = await import('./process/server.ts')
    reportFatal(cause)
    process.exitCode = 1
  }
  // Everything is closed. Timers that some library still has would only hold up the end.
  process.exit()
}
