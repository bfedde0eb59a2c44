import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'

export const DURABILITY = 'fsync every second'

export type RedisServer = { socket: string; stop(): Promise<void> }

/**
 * Starts a separate Redis, as durable as BullMQ recommends. Returns null if `redis-server` is not installed.
 */
export async function startRedis(): Promise<RedisServer | null> {
  const program = findProgram('redis-server')
  if (program === null) return null
  const folder = mkdtempSync(join(tmpdir(), 'loam-redis-'))
  const socket = join(folder, 'socket')
  const settings = {
    port: '0',
    unixsocket: socket,
    dir: folder,
    save: '',
    appendonly: 'yes',
    appendfsync: 'everysec',
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(program, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await waitUntilReady(socket, child)
  } catch (cause) {
    await stop()
    throw cause
  }
  return { socket, stop }
}

async function waitUntilReady(socket: string, child: ChildProcess): Promise<void> {
  const client = new Redis(socket, { lazyConnect: true, retryStrategy: () => 50, maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  try {
    const answer = await Promise.race([
      client.ping(),
      once(child, 'exit'),
      sleep(10_000, null, { ref: false }),
    ])
    if (answer !== 'PONG') throw new Error('redis-server did not start within 10 s')
  } finally {
    client.disconnect()
  }
}

function findProgram(name: string): string | null {
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .find((folder) => isExecutable(join(folder, name)))
  return found === undefined ? null : join(found, name)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
