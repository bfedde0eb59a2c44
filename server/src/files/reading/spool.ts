import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** A file without a name: it is gone when it is closed, also with a process that is killed. */
export async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomBytes(12).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

/** A nameless copy, for those who must read here and there. */
export async function spool(body: AsyncIterable<Uint8Array>, folder: string): Promise<FileHandle> {
  const file = await openNameless(folder)
  try {
    for await (const bytes of body) await file.appendFile(bytes)
    return file
  } catch (cause) {
    await file.close()
    throw cause
  }
}
