import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../lib/config/config.ts'
import { AppError } from '../../lib/errors.ts'
import { restoreMark, writePrivateFile } from '../../process/workspace.ts'
import { holdDataDir } from '../embedded/embedded.ts'

/** The contents of a data folder that belong to an installation. Any start makes the rest again. */
const CONTENTS = ['postgres', 'files', 'secret', 'admin-key']

/**
 * Makes the data folder ready for a restore. Removes what an unfinished restore left. Refuses any other content unless
 * `replace` allows moving it. Returns the folder that the content was moved to, or null.
 */
export async function makeRoom(config: Config, replace: boolean): Promise<string | null> {
  const { dataDir, release } = await holdDataDir(config.LOAM_DATA_DIR)
  try {
    // With a database of the operator's, the folder holds files at most. The rows of the database decide whether the
    // installation is empty.
    if (config.DATABASE_URL !== undefined) return null
    const found = CONTENTS.filter((name) => existsSync(join(dataDir, name)))
    const unfinished = existsSync(restoreMark(dataDir))
    if (!unfinished && found.length > 0 && !replace) {
      throw new AppError(
        'Conflict',
        `${dataDir} is not empty (${found.join(', ')}): set LOAM_DATA_DIR to an empty folder, or pass --replace to move what is there aside`,
      )
    }
    const movedTo = unfinished || found.length === 0 ? null : moveAside(dataDir, found)
    writePrivateFile(restoreMark(dataDir), `${new Date().toISOString()}\n`)
    if (unfinished) for (const name of found) rmSync(join(dataDir, name), { recursive: true })
    return movedTo
  } finally {
    await release()
  }
}

/**
 * Refuses a data folder that holds another admin key. With a database of the operator's, the folder may belong to another
 * installation, whose key is stored nowhere else.
 */
export function requireNoOtherKey(dataDir: string, key: string): void {
  const path = join(dataDir, 'admin-key')
  if (!existsSync(path) || readFileSync(path, 'utf8').trim() === key.trim()) return
  throw new AppError(
    'Conflict',
    `${path} is that of another installation: set LOAM_DATA_DIR to an empty folder, or move this file aside`,
  )
}

function moveAside(dataDir: string, names: string[]): string {
  const aside = join(dataDir, `replaced-${new Date().toISOString().replace(/[:.]/g, '-')}`)
  mkdirSync(aside, { mode: 0o700 })
  for (const name of names) renameSync(join(dataDir, name), join(aside, name))
  return aside
}
