import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../lib/errors.ts'
import { ENDING_ORPHAN } from '../../lib/log-lines.ts'
import { type Account, runAs } from './account.ts'
import { clearSocketDir } from './socket-dir.ts'

type Options = { cluster: string; socketDir: string; account: Account; log: (line: string) => void }

/**
 * Ends the processes that an earlier PostgreSQL left on the cluster, and removes the files that would stop the next start.
 * The caller holds the lock of the data folder and runs no PostgreSQL there, so any process found is left over.
 */
export async function clearOrphan({ cluster, socketDir, account, log }: Options): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid')
  if (existsSync(pidFile)) {
    const find = () => findProcesses(cluster, account)
    await endProcesses(readPid(pidFile), find, log)
    rmSync(pidFile, { force: true })
  }
  clearSocketDir(socketDir)
}

async function endProcesses(main: number, find: () => Promise<number[]>, log: (line: string) => void) {
  const found = await find()
  if (found.length === 0) return
  log(ENDING_ORPHAN)
  if (found.includes(main)) {
    if (await end([main], 'SIGINT', 5000, find)) return
    if (await end([main], 'SIGQUIT', 2000, find)) return
  }
  if (await end(await find(), 'SIGKILL', 2000, find)) return
  throw new Error(
    `The PostgreSQL processes ${(await find()).join(', ')} did not end after SIGKILL. End them, then start Loam again.`,
  )
}

async function end(pids: number[], signal: NodeJS.Signals, timeoutMs: number, find: () => Promise<number[]>) {
  for (const pid of pids) sendSignal(pid, signal)
  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(20))
    if ((await find()).length === 0) return true
  return false
}

/**
 * Finds the processes by their working directory, not by the number in postmaster.pid, which may belong to another process by
 * now. The shell runs as the same user as PostgreSQL, because even root may be denied access to the directories of other
 * users' processes.
 */
async function findProcesses(cluster: string, account: Account): Promise<number[]> {
  const script = `for dir in /proc/[0-9]*; do
    [ "$dir/cwd" -ef "$1" ] && read -r name <"$dir/comm" && [ "$name" = postgres ] && echo "\${dir#/proc/}"
  done 2>/dev/null; true`
  const { ok, output } = await runAs(account, '/bin/sh', ['-c', script, 'sh', cluster])
  if (!ok) throw new Error(`The running processes could not be listed: ${output}`)
  return output.split('\n').filter(Boolean).map(Number)
}

function readPid(pidFile: string): number {
  try {
    return Number.parseInt(readFileSync(pidFile, 'utf8'), 10)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return Number.NaN
    throw error
  }
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error
  }
}
