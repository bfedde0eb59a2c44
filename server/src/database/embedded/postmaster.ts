import { spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../lib/errors.ts'
import { type Account, currentAccount, environment } from './account.ts'
import type { Binaries } from './binaries.ts'
import { listSettings } from './settings.ts'

export type Postmaster = {
  /** Resolves with the cause when the process has ended. Never rejects. */
  ended: Promise<string>
  isReady: () => boolean
  stop: (mode: ShutdownMode) => Promise<void>
  logFile: string
  readLastLines: () => string
}

/** The way to stop: `smart` waits for the clients to leave, `fast` does not. Both send stronger signals after a time. */
export type ShutdownMode = 'smart' | 'fast'

type Options = { account: Account; binaries: Binaries; cluster: string; socketDir: string; logFile: string }

/**
 * A shell script that becomes PostgreSQL and leaves a second process behind. That process reads from an input that Loam holds
 * open. When Loam ends, the input ends, and the process shuts PostgreSQL down. A line on the input means that PostgreSQL
 * ended first.
 */
const endWithParent = `( { read -r line <&3 || kill -INT $$; } & )
exec "$@" 3<&-`

export function launchPostmaster({ account, binaries, cluster, socketDir, logFile }: Options): Postmaster {
  const log = openLog(logFile)
  const logStart = fstatSync(log).size
  const command = [binaries.postgres, '-D', cluster, ...listSettings(socketDir)]
  const child = spawn('/bin/sh', ['-c', endWithParent, 'sh', ...command], {
    ...account,
    cwd: '/',
    env: environment,
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  })
  closeSync(log)
  // Without this pipe the process was not started either, which the error event reports.
  const lifeline = child.stdio?.[3] instanceof Socket ? child.stdio[3] : undefined
  lifeline?.on('error', () => undefined)

  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => child.pid ?? resolve(error.message))
    child.on('exit', (code, signal) => {
      lifeline?.end('\n')
      resolve(signal ? `ended by ${signal}` : `ended with code ${code}`)
    })
  })

  return {
    ended,
    isReady: () => {
      const status = readLines(join(cluster, 'postmaster.pid'))
      return status[0] === String(child.pid) && status[7]?.trim() === 'ready'
    },
    stop: async (mode) => {
      const signals = [
        ['SIGTERM', 5000],
        ['SIGINT', 20_000],
        ['SIGQUIT', 5000],
        ['SIGKILL', 5000],
      ] as const
      for (const [signal, timeoutMs] of signals.slice(mode === 'smart' ? 0 : 1)) {
        child.kill(signal)
        if (await Promise.race([ended, sleep(timeoutMs, undefined, { ref: false })])) return
      }
      throw new Error(`PostgreSQL (process ${child.pid}) did not end after SIGKILL.`)
    },
    logFile,
    readLastLines: () => readLines(logFile, logStart).slice(-10).join('\n'),
  }
}

/** Waits until PostgreSQL is ready, for as long as its recovery takes. Rejects if PostgreSQL ends instead. */
export async function waitUntilReady(postmaster: Postmaster, log: (line: string) => void): Promise<void> {
  const notice = setTimeout(() => log('PostgreSQL is still starting; it may be recovering'), 5000)
  try {
    while (!postmaster.isReady()) {
      const cause = await Promise.race([postmaster.ended, sleep(10)])
      if (cause)
        throw new Error(
          `PostgreSQL did not start (${cause}). ` +
            `The end of its log, ${postmaster.logFile}:\n${postmaster.readLastLines()}`,
        )
    }
  } finally {
    clearTimeout(notice)
  }
}

/** Opens the log. PostgreSQL inherits the open file, so the file can stay closed to the user that PostgreSQL runs as. */
function openLog(file: string): number {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 10_000_000) renameSync(file, `${file}.1`)
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  const log = openSync(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600)
  const owner = statSync(dirname(file))
  if (currentAccount().uid === 0) fchownSync(log, owner.uid, owner.gid)
  return log
}

function readLines(file: string, start = 0): string[] {
  try {
    return readFileSync(file).subarray(start).toString().trimEnd().split('\n')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}
