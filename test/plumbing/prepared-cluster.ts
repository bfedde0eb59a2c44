import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * The variable that the global set-up sets: the data folder of a stopped server, with the schema in its
 * database.
 */
const FOLDER = 'LOAM_TEST_CLUSTER'
const MEMORY = '/dev/shm'
const MIN_FREE_BYTES = 4 * 1024 ** 3

/**
 * Creates the folder of a test run for the files of its servers. It is in memory if there is room: a new
 * database has 800 files, and ext4 looks for each at all files that were deleted lately, which took half a
 * second of processor time. The folder is removed when this process ends, even if that is killed.
 */
export function makeRunFolder(): string {
  const folder = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'loam-test-'))
  // If started by root, the servers run as another user, who must be able to reach their folders.
  chmodSync(folder, 0o755)
  // A server that ends at the same time may still write files.
  const remove = 'read -r _; until rm -rf "$1"; do sleep 1; done'
  const watcher = spawn('sh', ['-c', remove, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  if (watcher.stdin instanceof Socket) watcher.stdin.unref()
  return folder
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= MIN_FREE_BYTES
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return false
    throw cause
  }
}

/** Offers the folder to every test and every program that a test starts. */
export function offerCluster(dataDir: string): void {
  process.env[FOLDER] = dataDir
}

/** Creates a folder for a data folder: in the folder of the test run, or outside of tests on the disk. */
export function makeClusterFolder(name: string): string {
  const prepared = process.env[FOLDER]
  const folder = mkdtempSync(join(prepared === undefined ? tmpdir() : dirname(prepared), `loam-${name}-`))
  chmodSync(folder, 0o755)
  return folder
}

/**
 * Prepares a data folder before its first start, which then costs half as much: initdb and all migrations are
 * done. Programs that run outside of tests have no prepared folder and start from nothing.
 */
export function prepareCluster(dataDir: string): void {
  const prepared = process.env[FOLDER]
  if (prepared !== undefined) execFileSync('cp', ['-a', prepared, dataDir])
}
