import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('worker-process.ts', import.meta.url))

export type WorkerChild = { child: ChildProcess; ended: Promise<number | string>; stderr: () => string }

/** The line that a worker process of the tests prints when it takes jobs. */
export const WORKING = 'working'

/** Starts a worker in a process of its own. Resolves when it takes jobs. */
export async function startWorkerChild(
  databaseUrl: string,
  { concurrency = 20, silenceMs = 1500, without = '' } = {},
): Promise<WorkerChild> {
  const env = { ...process.env, LOAM_WITHOUT: without }
  const args = [PROGRAM, databaseUrl, String(concurrency), String(silenceMs)]
  return watch(spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }), WORKING)
}

/** Follows a process until it prints `word`. Rejects if the process ends before. */
export async function watch(child: ChildProcess, word: string): Promise<WorkerChild> {
  let output = ''
  let errors = ''
  const printed = Promise.withResolvers<void>()
  const listen = (text: string) => {
    output += text
    if (output.includes(word)) printed.resolve()
  }
  child.stdout?.setEncoding('utf8').on('data', listen)
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
    listen(text)
  })
  const ended = once(child, 'exit').then(
    ([code, signal]: (number | string | null)[]) => code ?? signal ?? 'unknown',
  )
  const early = ended.then((how) => {
    throw new Error(`the worker ended with ${how}: ${errors}`)
  })
  await Promise.race([printed.promise, early])
  early.catch(() => undefined)
  return { child, ended, stderr: () => errors }
}
