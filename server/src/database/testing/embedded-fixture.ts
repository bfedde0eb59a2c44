import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'

const program = fileURLToPath(new URL('embedded-process.ts', import.meta.url))

export const isRoot = process.getuid?.() === 0

/** A user that is neither root nor the one that root runs PostgreSQL as. */
export const ordinary = { uid: 1, gid: 1 }

/**
 * Tells whether tests can run as an ordinary user: only root can switch to another user, who must be able to read this
 * checkout.
 */
export const canBeOrdinary =
  isRoot && spawnSync(process.execPath, ['--check', program], { ...ordinary, cwd: '/' }).status === 0

/** The folders to remove and the processes to end after the tests of one file. */
const folders: string[] = []
const children: ChildProcess[] = []

/** Makes a new folder that every user can enter. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-test-'))
  chmodSync(folder, 0o755)
  folders.push(folder)
  return folder
}

export function giveTo(account: { uid: number; gid: number }, folder: string): void {
  chownSync(folder, account.uid, account.gid)
}

export async function cleanUp(): Promise<void> {
  await Promise.all(children.splice(0).map((child) => kill(child)))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
}

export type Program = {
  child: ChildProcess
  url: string
  error: string
  lines: string[]
  stop: () => Promise<void>
}

/** Starts a process that starts or opens the embedded server, and waits for its first line. */
export async function run(
  mode: 'start' | 'open',
  dataDir: string,
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Program> {
  const { child, lines } = launch(mode, dataDir, options)
  let answer = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (answer += text))
  await waitFor(() => answer.endsWith('\n'))
  const { url = '', error = '' }: { url?: string; error?: string } = JSON.parse(answer)
  // A program that has already ended reads no command. Without this listener, its closed pipe would end this process.
  child.stdin?.on('error', () => undefined)
  const stop = async () => {
    if (child.exitCode === null) child.stdin?.write('stop\n')
    if (child.exitCode === null) await once(child, 'exit')
  }
  return { child, url, error, lines, stop }
}

export function launch(mode: 'start' | 'open', dataDir: string, options = {}) {
  const child = spawn(process.execPath, [program, mode, dataDir], { cwd: '/', ...options })
  children.push(child)
  const lines: string[] = []
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trimEnd().split('\n')))
  return { child, lines }
}

/** Kills a process like `kill -9` and waits for its end. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

/** Reads the process number of the main PostgreSQL process. */
export function readPostmaster(dataDir: string): number {
  return Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
}

/** Returns true if the process is running. A process that has ended but was not waited for counts as ended. */
export function isRunning(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false
  return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 50_000,
): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await condition()); await sleep(10))
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${condition.toString()}`)
}

/** Removes a cluster that is outside its data folder. */
export function removeLinkedCluster(dataDir: string): void {
  rmSync(readlinkSync(join(dataDir, 'postgres')), { recursive: true })
}

export function listFolder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}
