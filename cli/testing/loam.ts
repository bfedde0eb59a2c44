import { Readable } from 'node:stream'
import { run } from '../main.ts'

export type Outcome = { exit: number | null; stdout: string; stderr: string }

/** The command in this process: everything but its start and its end is as in one of its own. */
export async function runLoam(args: string[], env: Record<string, string>): Promise<Outcome> {
  const said = { stdout: '', stderr: '' }
  const keep = (name: 'stdout' | 'stderr') => ({ write: (text: string) => (said[name] += text) })
  const terminal = {
    env,
    stdin: Readable.from([]),
    stdout: keep('stdout'),
    stderr: keep('stderr'),
    exitCode: 0,
  }
  await run(args, terminal)
  return { exit: terminal.exitCode, ...said }
}
