import { Readable } from 'node:stream'
import { run } from '../main.ts'

export type Outcome = { exit: number | null; stdout: string; stderr: string }

/** Runs the command in this process. Everything but start and exit is as in its own process. */
export async function runLoam(args: string[], env: Record<string, string>): Promise<Outcome> {
  const output = { stdout: '', stderr: '' }
  const keep = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (output[name] += text) })
  const terminal = {
    env,
    stdin: Readable.from([]),
    stdout: keep('stdout'),
    stderr: keep('stderr'),
    exitCode: 0,
  }
  await run(args, terminal)
  return { exit: terminal.exitCode, ...output }
}
