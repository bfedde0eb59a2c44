import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { READY } from '#server/lib/log-lines.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The flags of `npm start`. `docs/decisions/processes.md` explains them. */
export const FLAGS = [
  '--v8-pool-size=2',
  '--no-allocation-site-pretenuring',
  '--no-parallel-scavenge',
  '--max-semi-space-size=64',
  '--max-old-space-size=1536',
]
/** The folder of compiled code that `npm start` uses. With it a process starts in half the time. */
export const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/loam', import.meta.url))
/** Finds the address in the output of a server that is ready. */
export const findAddress = (output: string): string | undefined =>
  new RegExp(`${READY} (http://\\S+)`).exec(output)?.[1]

export type ServerProcess = {
  child: ChildProcess
  /** The address of the server, or an empty text if it ended before it was ready. */
  url: string
  stdout: () => string
  stderr: () => string
  /** Resolves with the exit code, or with the signal that ended the process. */
  ended: Promise<number | string>
  /** Asks the process to end, and waits until it has. */
  stop: (signal?: NodeJS.Signals) => Promise<number | string>
}

/**
 * Starts the real server in a separate process, and waits until it is ready or has given up. Uses a free port
 * by default.
 */
export async function startServer(
  env: Record<string, string>,
  command = [process.execPath, ...FLAGS, 'server/src/main.ts'],
  cwd = ROOT,
) {
  const [program = '', ...args] = command
  const { PATH = '', HOME = '/' } = process.env
  const child = spawn(program, args, {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE: COMPILED, HOST: '127.0.0.1', PORT: '0', ...env },
  })
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const ended = once(child, 'exit').then(
    ([code, signal]: (number | string | null)[]) => code ?? signal ?? 'unknown',
  )
  const ready = new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      const url = findAddress(stdout)
      if (url !== undefined) resolve(url)
    })
  })
  const url = await Promise.race([ready, ended.then(() => '')])
  const server: ServerProcess = {
    child,
    url,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
  return server
}
