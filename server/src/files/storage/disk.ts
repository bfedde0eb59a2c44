import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type { Storage } from './storage.ts'

const ABANDONED_MS = 24 * 60 * 60_000

/** Opens a storage of files in one folder. A file appears under its name only when it is completely on disk. */
export function openDiskStorage(folder: string): Storage {
  const partials = join(folder, '.partial')
  let swept: Promise<void> | undefined
  return {
    async write(key, body) {
      await mkdir(partials, { recursive: true, mode: 0o700 })
      await (swept ??= removeAbandoned(partials))
      const target = join(folder, key)
      const partial = join(partials, randomBytes(12).toString('hex'))
      try {
        const size = await writeSynced(partial, body)
        await mkdir(dirname(target), { recursive: true, mode: 0o700 })
        await rename(partial, target)
        await syncFolder(dirname(target))
        return size
      } catch (cause) {
        await rm(partial, { force: true })
        throw cause
      }
    },

    async read(key, { start = 0, end = Number.POSITIVE_INFINITY } = {}) {
      const file = await unlessMissing(open(join(folder, key), 'r'))
      if (file === null) return null
      if (end > start) return file.createReadStream({ start, end: end - 1 })
      await file.close()
      return Readable.from([])
    },

    async size(key) {
      return (await unlessMissing(stat(join(folder, key))))?.size ?? null
    },

    async remove(key) {
      await rm(join(folder, key), { force: true })
    },
  }
}

async function writeSynced(path: string, body: AsyncIterable<Uint8Array>): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    let size = 0
    for await (const bytes of body) {
      await writeAll(file, bytes)
      size += bytes.length
    }
    await file.sync()
    return size
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let from = 0; from < bytes.length;) from += (await file.write(bytes, from)).bytesWritten
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes partial files of processes that were killed while writing. */
async function removeAbandoned(partials: string): Promise<void> {
  const oldest = Date.now() - ABANDONED_MS
  for (const name of await readdir(partials)) {
    const path = join(partials, name)
    const found = await unlessMissing(stat(path))
    if (found !== null && found.mtimeMs < oldest) await rm(path, { force: true })
  }
}

async function unlessMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
}
