import { type ChildProcess, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Outcome } from './loam.ts'

const COMMAND = fileURLToPath(new URL('../loam.mjs', import.meta.url))

/** Starts the real command. Of this process's environment it gets only what is needed to find programs. */
export function startLoam(args: string[], env: Record<string, string>): ChildProcess {
  const { PATH = '', HOME = '' } = process.env
  return spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH, HOME, ...env },
  })
}

/** Runs the command in its own process, for tests about processes. Each takes about a second. */
export async function runLoamProcess(args: string[], env: Record<string, string>): Promise<Outcome> {
  const child = startLoam(args, env)
  if (child.stdout === null || child.stderr === null) throw new Error('the command has no pipes')
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  const [stdout, stderr, exit] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  return { exit, stdout, stderr }
}
