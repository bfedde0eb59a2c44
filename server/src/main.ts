import { realpathSync } from 'node:fs'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/loam', import.meta.url))

/**
 * Runs the server until it is told to end. Signal handlers are installed before anything else is loaded,
 * because loading takes a second.
 */
export async function serve(env: Record<string, string | undefined>): Promise<void> {
  const end = endBySignal()
  // Compiled code is cached, which halves the time to load from the second start on. The cache is written at
  // once, because a killed process writes nothing.
  enableCompileCache(COMPILED)
  const { runServer } = await import('./process/server.ts')
  flushCompileCache()
  await runServer(env, end)
}

/**
 * Returns a signal that aborts at the first SIGINT or SIGTERM. Later signals are ignored: a terminal sends
 * one to npm and one to this process, and npm passes its own on. Only the server's own time limit cuts a
 * shutdown short.
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
  // Everything is closed. Timers left by libraries would only delay the exit.
  process.exit()
}
