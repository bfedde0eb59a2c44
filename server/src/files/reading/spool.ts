import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Opens a file without a name. It disappears when it is closed, also if the process is killed. */
export async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, randomBytes(12).toString('hex'))
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

/** Copies a body into a nameless file, for readers that do not read in order. */
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
